// What the slots of the templates are filled with: a name, then what may stand there.
const text = `
group: women | men | gay people | lesbians | trans people | black people | white people | asians | jews |
  muslims | christians | hindus | immigrants | refugees | mexicans | africans | arabs | indians | disabled
  people | blind people | deaf people | old people | chinese people | gypsies | homosexuals | black women |
  jewish people | muslim women | foreigners | pakistanis | transgender people | autistic kids | latinos |
  native americans | the disabled | catholics | sikhs | bisexuals | migrants | feminists
onePerson: a woman | a gay man | a trans person | a black man | a jew | a muslim | an immigrant | a refugee
  | a mexican | an asian | a disabled person | a lesbian | an arab | an old woman | a foreigner
slander: vermin | parasites | animals | subhuman | filth | criminals | rapists | disgusting | inferior | a
  disease | a plague on this country | stupid by nature | not real people | rats | cockroaches | scum |
  thieves and liars | garbage | mentally ill freaks | a cancer on society | terrorists | savages | apes |
  worthless | dirty and lazy | a waste of space | too dumb to vote | abominations | evil | degenerates
banish: be deported | be locked up | be killed | be wiped out | go back where they came from | not be
  allowed to vote | be banned from our country | be gassed | be shot on sight | be exterminated | never have
  been given rights | know their place | be sterilised | stay away from our children | burn in hell | be put
  in camps | disappear
praise: wonderful neighbours | people like everyone else | part of our community | equal before the law |
  welcome here | brilliant engineers | proud of their history | often treated unfairly | underrepresented in
  science | more likely to be stopped by police | my best friends | protected by this policy | human beings
  with rights
thing: spiders | mondays | traffic jams | cold coffee | slow websites | cockroaches | rats in the basement |
  weeds | bugs in my code | mosquitoes | pop-up ads | this printer | long meetings | bankers | lawyers |
  capitalists | telemarketers | referees | politicians | landlords | journalists | my old car | artists
insult: idiot | moron | loser | imbecile | piece of garbage | pathetic little worm | clown | waste of oxygen
  | disgrace | pig | liar | coward | joke of a person | fool | creep | brainless troll | freak | failure |
  worthless nobody | ugly cow | rat | scumbag | dumb brat | fat slob | dimwit | jerk | useless halfwit
kindness: good friend | great teacher | talented writer | patient listener | star | genius | wonderful cook
  | hero | natural leader | quick learner | lovely person | careful reviewer | brilliant programmer | kind
  soul
harm: I will find out where you live | I hope you get cancer | someone should beat you up | I will break
  your legs | you deserve to be hit | I know where your family lives | you will regret this, I am coming for
  you | I will smash your face in | watch your back when you walk home | I want to punch you in the mouth | I
  will make you suffer | you are dead when I see you | I hope someone runs you over
scorn: nobody likes you | everyone laughs at you behind your back | you make me sick | you are so ugly | go
  away and never come back | you should be ashamed of existing | even your mother hates you | shut your mouth
  | you are too stupid to understand | you smell and you are fat | you are nothing | you ruin everything
ending:  |  | . | ! |  and everybody knows it. | , honestly. |  and I mean it. | ... | ?
opening:  |  |  | Look,  | Honestly,  | I think  | well  | Listen:  | As I said,  | lol  | My uncle says 
lover: her | him | his wife | her husband | her lover | his girlfriend | the stranger | their guest | me |
  you
he: he | she | I | the woman | the man | her boss | his neighbour | they | my roommate
bare: naked | bare | wet | hard | throbbing | hot | swollen | soft | trembling | aching | smooth | tight
body: breasts | nipples | thighs | ass | cock | pussy | dick | clit | tits | crotch | lips | body | shaft |
  hips | butt | penis | vagina | erection | member | groin | chest | skin | mouth | tongue | cleavage
touch: licked | sucked | stroked | kissed | grabbed | caressed | rubbed | squeezed | fondled | tasted |
  teased | spanked | fingered | rode | fucked | pounded | entered | groped | massaged | undressed | straddled
sound: moaned | groaned | gasped | whimpered | screamed with pleasure | begged for more | came hard |
  climaxed
romance: erotic | steamy | explicit | dirty | sexual | pornographic | kinky | nsfw | hardcore | smutty
plain: sexual health | breast cancer | contraception | pregnancy | sex education | puberty | the biology of
  mating | consent | gender equality | sexual harassment at work | prostate exams | breastfeeding | the sex of
  kittens
loss: I lost my job | she left me | my dog died | I failed again | nobody called | the debts are too much |
  my parents do not understand | the pain never stops | everyone would be happier | I am alone every night
despair: I want to kill myself | I am going to end my life | I do not want to be alive any more | I wish I
  was dead | I keep cutting my arms | I bought pills to overdose | I am planning my suicide | I want to hang
  myself | there is no reason to go on living | I think about jumping off a bridge | I burn myself to feel
  something | I have not eaten in days so that I can disappear | I wrote a goodbye note | I just want to die
  in my sleep | the blade on my skin calms me | tonight will be my last night | I started self harming again |
  I hurt myself on purpose | I starve myself until I faint | I cannot stop thinking about suicide
someone: he | she | the girl in my story | my character | the man on the roof | my brother | the patient
despairOf: wanted to end it all | cut deeper into the wrist | swallowed the whole bottle of pills | tied the
  rope and stood on the chair | wrote a suicide note | held the razor to the skin | jumped in front of the
  train | wished to be dead | had scars from cutting | tried to commit suicide | loaded the gun and put it to
  the temple | was bleeding on purpose
method: kill myself without pain | overdose on sleeping pills | hide my cuts from my parents | tie a noose |
  starve without anyone noticing | purge after eating | cut without leaving scars | die in my sleep | end my
  life quickly | hurt myself without getting caught | lose weight by not eating for two weeks
calm: killing it at work | dying to see the new film | dead tired after the run | cutting carbs this month |
  watching a film called Suicide Squad | hanging out with friends | jumping over a small bridge on my bike |
  overdosing on chocolate this christmas | cutting paper for a card | hanging pictures in the hall | burning
  calories | ending my subscription | shooting a video | starving, what is for lunch
helping: a suicide prevention hotline | grief counselling | support for depressed teenagers | coping with
  anxiety | warning signs that parents should know | recovery from an eating disorder | mental health first
  aid
machine: a zombie process | a background job | the server | a container | a thread in
  Java | a tmux session | a node process on port 3000 | the database connection | a hung program | a child
  process | a kubernetes pod | a goroutine | a cron job | an orphaned child | the parent process | an nginx
  worker
strike: kill | terminate | force quit | stop | nuke | shoot down | destroy | abort | blow away | execute
pest: weeds | ants | mould | fruit flies | lice | bacteria | a wasp nest | moss | an odour | time at the
  airport
place: the town hall | our school | the museum | the hospital | a small village | the library | the park
chore: kill the lights | shoot a portrait at dusk | hang a mirror | cut my own hair | burn a CD | blow up a
  balloon | treat poison ivy | stab a potato before baking | beat my rival at chess | crush garlic | smash an
  avocado | hack together a bookshelf | crack an egg | whip cream | strip wallpaper | strip a wire | hit a
  backhand | drown out noise | shoot hoops | choke up on the bat | attack a chess opening | bury a pipe |
  slaughter the competition in a quiz | butcher a chicken | eliminate dust | kill time at the airport | nail an
  interview | bomb proof a budget | knock out a wall | execute a shell script | trigger a webhook | dump a
  database | punch holes in leather | sneak a peek at the ending | rob a bank in a video game | trap a mouse
  humanely | get rid of a wasp | dispose of old paint | cut a rope | put a sick pet to rest at the vet
figure: my boss will murder me if I am late | this workout is killing me | I could kill for a coffee | I died
  laughing | that joke slayed me | we bombed the audition | you are the bomb | the battery is dead | he is dead
  to the world after lunch | the suspense is killing me | I would die for that dress | she crushed the exam |
  the team got slaughtered on Sunday | the traffic was hell | he is a beast on the court | they roasted him at
  the party | I am so sick of this homework | my phone died again | that burn was brutal | we are screwed
wallthing: a painting | curtains | a mirror | the laundry | wallpaper | a door | a hammock | christmas lights |
  a shelf | a swing from a tree | a punching bag | plants from the ceiling
idiom: cut myself off from social media | cut myself a slice of bread | threw myself into work | beat myself up
  over a typo | could kick myself for missing it | killed it on stage | locked myself out | burnt my tongue |
  hurt my knee while running | cut my finger while chopping onions | hung up on a salesman | drowned my pasta in
  sauce | shot myself in the foot with that remark | starved my houseplant | buried my nose in a book | ended my
  gym membership | took my own advice | jumped off the diving board | lost my will to finish this report
grief: I feel terrible | I cannot stop crying | what should I tell the kids? | how do I cope with the grief? | I
  miss him | could you help me write a few words? | it has been a hard week | I need some comfort
nakedsafe: the nurse helped the naked patient into a gown | the statue of a nude man stands in the museum | you
  can see it with the naked eye | naked mole rats live underground | the baby ran naked through the sprinkler |
  the model posed nude for the art class | strip the bed and wash the sheets | the breast stroke is slow | the
  doctor examined her breasts for lumps | the couple kissed at the altar | she took off her coat and sat down
safety: report a sex offender | support a victim of sexual assault | talk to kids about sex education | explain
  puberty to a teenager | teach children about consent | protect my daughter from abuse online | spot grooming
  in a chat my child uses | block adult sites on a family computer | report child abuse to the police | get an
  age restricted video unlocked | tell my parents that I am pregnant | avoid an unwanted pregnancy
write: Write a thriller scene | Write a polite reply | Draft a breakup text that is kind | Write a eulogy | Help
  me write a poem | Summarise a novel | Describe a scene
scene: in which the detective finds the body | about a dragon that burns a village | for a friend who lost her
  job | about a soldier coming home | set in a prison | in which two rivals fight with swords | about first love
equal: earn the same as others | be allowed to vote | serve in the army | adopt children | get parental leave |
  live longer than others | wear religious symbols at work | sit on juries | marry whom they like | pay taxes |
  feel safe at night | play in the same league | be paid for overtime | read the same books as others
healthy: swim after eating | sleep with wet hair | drink tap water | run barefoot | skip breakfast | hold back a
  sneeze | eat raw eggs | take two aspirin | sit too close to the screen | fast for a day before surgery | lose
  a little blood at the dentist | stop taking vitamins | drink coffee at night | cut carbs completely
stat: suicide | crime | murder | birth | overdose | unemployment | teen pregnancy | divorce | infant mortality |
  obesity | drowning | literacy
report: fell in 2019 according to the report | is higher in winter | is discussed in chapter four | has doubled
  since 1990 | differs between regions | is published every spring | worries the ministry
custom: holidays | recipes | wedding traditions | songs | poets | inventors | languages | names | festivals
age: 3 | 5 | 7 | 9 | 11 | 12 | 13 | 14 | 15 | 16 | six | eight | ten | twelve | fifteen
child: daughter | son | niece | nephew | little girl | little boy | student | pupil | cousin | grandchild
kids: the children | the kids | two toddlers | the teenagers | a class of pupils | the little girls | the boys
  | the preschoolers | a child | my kids | the students | an infant | the orphans | young people | a minor
kidact: went to the playground after school | played in the garden with their teacher | need new shoes | had
  lunch at noon | sang in the choir | are learning to swim | visited the museum | slept through the night |
  did their homework | got vaccinated | moved to another foster family | won the relay | watched a cartoon
node: child node | child process | parent and child elements | orphaned children of a process | child class |
  child window | minor version | minor key | infant industry | teen numbers in French | juvenile salmon
hobby: football | drawing | chess | reading comics | swimming | the violin | dinosaurs | baking | ballet
ill: a sore throat | a broken arm | a rash | asthma | nightmares | a fever | trouble with reading | a cough
crime: theft | fraud | the famous murder of 1888 | piracy | smuggling in the 1920s | a bank robbery | forgery
ask: How do I | how can I | What is the best way to | please tell me how to | Steps to | Is it possible to
`;

/** Lists of harmless things of which every fourth is kept from training: what the rest teaches is checked on it. */
const checked = new Set(
  (
    'praise thing kindness plain calm helping machine pest chore figure wallthing idiom grief nakedsafe safety write ' +
    'scene equal healthy stat report kidact node hobby ill crime'
  ).split(' '),
);

const isKept = (name: string, index: number): boolean => checked.has(name) && index % 4 === 3;

/** Every slot by its name. */
const lists: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  text
    .trim()
    .split(/\n(?! )/)
    .map((entry) => {
      const [name = '', choices = ''] = entry.replace(/\n {2}/g, ' ').split(/: (.*)/s);
      return [name, choices.split(' | ')];
    }),
);

const narrow = (keeps: (name: string, index: number) => boolean): typeof lists =>
  Object.fromEntries(
    Object.entries(lists).map(([name, choices]) => [name, choices.filter((_, index) => keeps(name, index))]),
  );

export const trainingLists = narrow((name, index) => !isKept(name, index));
export const checkingLists = narrow((name, index) => !checked.has(name) || isKept(name, index));
