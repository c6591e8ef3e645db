import t from 'tap';
import { defaultFlags } from '../../src/core/upstream-flags.js';
import { createCatalog } from '../../src/upstreams.js';
import { configOf, faultsOf } from './read.js';

const providers = `version: 1
providers:
  sim: { kind: simulator }
  claude: { kind: anthropic, base_url: "https://a.example" }
  vllm: { kind: openai_chat, base_url: "http://h:8000/v1" }
  llama: { kind: openai_chat, base_url: "http://h:8080" }
credits: { free_request: { enabled: false } }
`;

const faults = async (models: string): Promise<string[]> =>
  (await faultsOf(`${providers}models:\n${models}`)).map((fault) =>
    fault.replace(/^gateway\.yaml:\d+:\d+ /, ''),
  );

t.test('D46 a model has one provider, or targets of which one at least has a weight', async (t) => {
  t.strictSame(
    await faults(`
  - { name: none }
  - { name: both, provider: sim, upstream_model: x, targets: [{ provider: sim }] }
  - { name: idle, targets: [{ provider: sim, weight: 0 }, { provider: claud, weight: 0 }] }
  - { name: twice, targets: [{ provider: sim }, { provider: sim, weight: 2 }, { provider: sim, upstream_model: x }] }
`),
    [
      'models[0].provider: is missing; name one, or several under targets',
      'models[1].provider: stands beside targets; give one of the two',
      'models[1].upstream_model: belongs to each of the targets',
      'models[2].targets: must have a weight above 0 among them',
      'models[2].targets[1].provider: is not a name under providers; did you mean claude?',
      'models[3].targets[1]: is the same target again; give one of them a larger weight',
    ],
  );
});

t.test('D46 listed names fit their prefix and belong to one model only', async (t) => {
  t.strictSame(
    await faults(`
  - { name: "claude-*", provider: claude, listed: [claude-a, gpt-5, plain] }
  - { name: plain, provider: sim, listed: [plain-2] }
`),
    [
      'models[0].listed[1]: does not begin as claude-* says',
      'models[0].listed[2]: does not begin as claude-* says',
      'models[1].name: is taken by another model',
      'models[1].listed[0]: has no effect: the model is listed by its name',
    ],
  );
});

t.test('D46 a misspelt flag or value is met with a suggestion, an idle one is told', async (t) => {
  t.strictSame(
    await faults(`
  - { name: a, provider: sim, flags: { drop_samplin: true, thinking: budgets } }
  - { name: b, targets: [{ provider: sim, wieght: 2 }] }
`),
    [
      'models[0].flags.drop_samplin: is not a known key; did you mean drop_sampling?',
      'models[0].flags.thinking: must be one of adaptive, budget; did you mean budget?',
      'models[1].targets[0].wieght: is not a known key; did you mean weight?',
    ],
  );
  t.strictSame(
    await faults(`
  - { name: a, provider: claude, flags: { native_messages: true } }
  - { name: b, targets: [{ provider: vllm }, { provider: sim, flags: { native_messages: true } }] }
  - { name: c, targets: [{ provider: vllm }, { provider: sim }], flags: { native_messages: true } }
`),
    [
      'models[0].flags.native_messages: has no effect: it is for providers of kind openai_chat or openai_responses',
      'models[1].targets[1].flags.native_messages: has no effect: it is for providers of kind openai_chat or openai_responses',
    ],
  );
});

t.test('D46 what is not said of a model is as the translation assumes it', async (t) => {
  const catalog = createCatalog(await configOf(`${providers}models: [{ name: a, provider: sim }]`));
  const [choice] = catalog.resolve('a', '')!.choices;
  t.strictSame(choice!.flags, defaultFlags);
  t.equal(choice!.messagesPath, null);
});

t.test(
  'flags of a target replace those of its model; the path of messages follows the address',
  async (t) => {
    const catalog = createCatalog(
      await configOf(`${providers}models:
  - name: a
    flags: { native_messages: true, drop_sampling: true }
    targets:
      - { provider: vllm, weight: 3 }
      - { provider: llama, weight: 0 }
      - { provider: claude, weight: 0, flags: { thinking: budget } }
`),
    );
    const choices = catalog.resolve('a', '')!.choices;
    t.strictSame(
      choices.map(({ messagesPath }) => messagesPath),
      ['/messages', '/v1/messages', null],
    );
    t.strictSame(
      choices.map(({ flags }) => [flags.dropSampling, flags.thinking]),
      [
        [true, 'adaptive'],
        [true, 'adaptive'],
        [false, 'budget'],
      ],
    );
  },
);
