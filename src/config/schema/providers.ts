import * as v from 'valibot';
import {
  address,
  amount,
  duration,
  headerMap,
  integer,
  modelName,
  modelPattern,
  name,
  proxyAddress,
  required,
  setting,
  urlPath,
} from './values.js';

const simulator = v.strictObject({
  kind: required(
    'Answers from within, in every format: for development, tests and demonstrations.',
    v.literal('simulator'),
  ),
  ttft: setting('Time to the first token.', duration(0, 3_600_000), '20ms'),
  tokens_per_second: setting('Pace of the answer.', amount(0.01, 1_000_000), 400),
});

const timeouts = v.strictObject({
  connect: setting('Until the connection, TLS included, stands.', duration(1), '5s'),
  first_byte: setting('Until the first byte of the answer.', duration(1), '120s'),
  idle: setting('Longest silence inside an answer.', duration(1), '300s'),
  total: setting('Whole answer.', duration(1), '900s'),
});

const prices = v.strictObject({
  input_per_mtok: required('US dollars for a million input tokens.', amount()),
  output_per_mtok: required('US dollars for a million output tokens.', amount()),
  cache_read_per_mtok: v.pipe(
    v.optional(amount()),
    v.description('US dollars for a million tokens read from the cache; default 0.1 x input.'),
  ),
  cache_write_per_mtok: v.pipe(
    v.optional(amount()),
    v.description('US dollars for a million tokens written to the cache; default 1.25 x input.'),
  ),
});

const price = v.pipe(
  prices,
  v.transform((given) => ({
    input_per_mtok: given.input_per_mtok,
    output_per_mtok: given.output_per_mtok,
    cache_read_per_mtok: given.cache_read_per_mtok ?? given.input_per_mtok / 10,
    cache_write_per_mtok: given.cache_write_per_mtok ?? given.input_per_mtok * 1.25,
  })),
);

const free = { input_per_mtok: 0, output_per_mtok: 0 };

const passthrough = v.strictObject({
  path: required('Path served as it is, such as /v1/embeddings.', urlPath),
  unmoderated: required(
    'Must be true: nobody reads what goes through here, and the audit trail says so.',
    v.literal(true),
  ),
  price: setting('What it costs, tokens being estimated from bytes; 0 = nothing.', price, free),
});

const remote = v.strictObject({
  kind: required('The wire format it speaks.', v.picklist(['anthropic', 'openai_chat', 'openai_responses'])),
  base_url: required('Where it is, as its own SDK would be told.', address),
  api_key: setting("The provider's own key; clients never see it.", v.string(), ''),
  timeouts: setting('How long to wait for what.', timeouts, {}),
  retry: setting(
    'Only before the first byte of an answer.',
    v.strictObject({ attempts: setting('Tries in all, the first included.', integer(1, 10), 2) }),
    {},
  ),
  max_connections: setting('Most connections open to it at once.', integer(1, 100_000), 1_024),
  headers: setting('Sent with every request, such as api-key for Azure.', headerMap, {}),
  query: setting('Added to every address, such as api-version.', v.record(v.string(), v.string()), {}),
  proxy_url: setting('Outbound proxy; empty = none.', proxyAddress, ''),
  ca_file: setting('PEM file with extra certificate authorities; empty = none.', v.string(), ''),
  passthrough: setting('Paths forwarded without translation or moderation.', v.array(passthrough), []),
});

export const providers = v.record(name, v.variant('kind', [simulator, remote]));

const flag = (about: string, fallback: boolean) => setting(about, v.boolean(), fallback);

const flags = v.strictObject({
  native_messages: flag(
    'An OpenAI-style server that also serves /v1/messages, such as vLLM or llama.cpp, gets those requests as they are.',
    false,
  ),
  max_tokens_field: setting(
    'How a chat server calls the token bound: max_tokens for vLLM, Ollama and llama.cpp.',
    v.picklist(['max_completion_tokens', 'max_tokens']),
    'max_completion_tokens',
  ),
  drop_sampling: flag(
    'Leaves out temperature, top_p, top_k and penalties, for models that refuse them.',
    false,
  ),
  drop_reasoning: flag('Leaves out what asks for reasoning, for models that refuse it.', false),
  drop_server_tools: flag('Leaves out tools that only another vendor runs, instead of refusing them.', false),
  takes_documents: flag('Whether a chat server reads file parts.', true),
  takes_reasoning_text: flag('Sends earlier reasoning to a chat server as reasoning_content.', false),
  takes_top_k: flag('Whether a chat server knows top_k.', false),
  lift_system_turns: flag('Moves later system messages to the start, for models that know only that.', false),
  thinking: setting(
    'How a Messages model is asked to reason: adaptive (by effort) or budget (older ones, by tokens).',
    v.picklist(['adaptive', 'budget']),
    'adaptive',
  ),
});

const upstreamModel = setting('What the provider calls it; null = as asked.', v.nullable(modelName), null);

const target = v.strictObject({
  provider: required('A name under providers.', name),
  upstream_model: upstreamModel,
  weight: setting(
    'Its share of the requests beside the other weights; 0 = only when the others fail.',
    amount(0, 1_000_000),
    1,
  ),
  flags: v.pipe(v.optional(flags), v.description('As flags of the model, which it replaces here.')),
});

const model = v.strictObject({
  name: required('The name clients ask for, or the beginning of names followed by "*".', modelPattern),
  aliases: setting('Other names of it.', v.array(modelName), []),
  listed: setting(
    'Names that GET /v1/models shows for it, where its own name ends with "*".',
    v.array(modelName),
    [],
  ),
  provider: setting('A name under providers; null where there are targets.', v.nullable(name), null),
  upstream_model: upstreamModel,
  targets: setting(
    'Several providers that share its requests and stand in for each other, instead of provider.',
    v.array(target),
    [],
  ),
  fallbacks: setting(
    'Models tried in order when the provider fails before the first byte.',
    v.array(modelName),
    [],
  ),
  flags: setting('What is particular to it where it is served.', flags, {}),
  max_output_tokens: setting('Most output tokens one answer may have.', integer(1, 100_000_000), 8_192),
  price: setting('What it costs; 0 = nothing.', price, free),
});

export const models = v.array(model);
