// Pairs of lookalikes that no Unicode decomposition joins: what is written, then what it is read as.
const cyrillic =
  'аaвbгrеeзeиnкkмmнhоoпnрpсcтtуyхxъbьbяrёeєeіiїiјjљlњnћhўyѕsџuһhԁdԛqԝwҽeҍbӏlғfқkңhүyұyҳxҷyҹyөo';
const greek = 'αaβbγyδdεeζzηnθoιiκkλlμuνvξeοoπnρpσoςsτtυuφoχxψwωwϲcϳj';
const armenian = 'աwբpգqդnեtզqըnիhլlծoհhձdմuյjնuոnպwռnսuտmցgւrքpօoֆf';
const latin =
  'ɑaʙbᴄcᴅdᴇeꜰfɡgɢgʜhɪiıiᴊjᴋkʟlᴌlᴍmɴnᴏoɔcᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzʋvɩiɐaǝeəeɟjɓbɗdƙkłløođdħhŧtƒfƿpɛeʘoꞵbɯwʍmʇtʞkʎyɥhɹrßb';
const cherokee = 'ᎪaᏴbᏟcᎠdᎬeᎦfᏀgᎻhᎥiᎫjᏦkᏞlᎷmᏢpᏚsᎢtᏙvᎳwᎩyᏃz';
const signs = '‘\'’\'‚,‛\'“"”"„"′\'″"‹<›>«"»"‐-‑-‒-–-—-―-−-﹘-﹣-⁓~∼~⁄/∕/∗*∙.•.·.․.€e£l¥y₩w¢c';
// Letters in squares and circles that have no decomposition, and letters of flags.
const lettered = [0x1f150, 0x1f170, 0x1f1e6];

const pairs = [cyrillic, greek, armenian, latin, cherokee, signs].flatMap((table) => {
  const characters = Array.from(table);
  return characters.flatMap((character, index): (readonly [string, string])[] =>
    index % 2 === 0 ? [[character, characters[index + 1]!]] : [],
  );
});

const framed = lettered.flatMap((first) =>
  Array.from(
    { length: 26 },
    (_, letter) => [String.fromCodePoint(first + letter), String.fromCharCode(97 + letter)] as const,
  ),
);

// Some capitals are plain ASCII or two letters: those need no entry of their own.
const capitalOf = (character: string): string => {
  const capital = character.toUpperCase();
  return capital.length === 1 && capital > '\u007f' ? capital : character;
};

/** Characters that look like an ASCII letter or sign, and that letter or sign. */
export const confusables: ReadonlyMap<string, string> = new Map([
  ...pairs,
  ...pairs.map(([character, twin]) => [capitalOf(character), twin] as const),
  ...framed,
]);
