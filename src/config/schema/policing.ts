import * as v from 'valibot';
import {
  amount,
  duration,
  integer,
  modelName,
  optionalAddress,
  required,
  setting,
  urlPath,
  word,
} from './values.js';

const limit = v.nullable(integer(0));

const override = v.strictObject({
  scope: required('Whose limits change.', v.picklist(['organization', 'project', 'key'])),
  id: required('Which one, or "*" for all; the most specific wins.', word()),
  rpm: v.pipe(v.optional(limit), v.description('Requests a minute; null lifts the limit.')),
  rpd: v.pipe(v.optional(limit), v.description('Requests a day; null lifts the limit.')),
  tpm: v.pipe(v.optional(limit), v.description('Tokens a minute; null lifts the limit.')),
  tpd: v.pipe(
    v.optional(limit),
    v.description('Tokens a day (scope organization only); null lifts the limit.'),
  ),
  concurrent: v.pipe(v.optional(limit), v.description('Requests at once; null lifts the limit.')),
});

export const limits = v.strictObject({
  enforce: setting('false counts and reports, but refuses nothing.', v.boolean(), true),
  count_refused: setting(
    'Whether a refused attempt counts in its key (where there is room), or nowhere.',
    v.picklist(['key', 'none']),
    'key',
  ),
  overrides: setting('Limits other than those of the tier.', v.array(override), []),
  admin: setting(
    'Limits of the administration routes.',
    v.strictObject({
      credential_rpm: setting('Requests a minute per key.', integer(1), 60),
      organization_rpm: setting('Requests a minute per organization.', integer(1), 300),
      concurrent: setting('Requests at once per key.', integer(1), 10),
    }),
    {},
  ),
});

export const moderation = v.strictObject({
  engine: setting(
    'embedded, http, or off (the always-blocked categories stay on).',
    v.picklist(['embedded', 'http', 'off']),
    'embedded',
  ),
  stream: setting(
    'How streams are read: adaptive, hold (hold_chars), buffer (whole answer), async (no hold; stop when found).',
    v.picklist(['adaptive', 'hold', 'buffer', 'async']),
    'adaptive',
  ),
  hold_chars: setting('Characters held back in mode hold.', integer(1, 100_000), 272),
  http: setting(
    'A moderation service, used when engine is http; the embedded engine stays its floor.',
    v.strictObject({
      kind: setting(
        'moderations = the OpenAI shape; guard = a guard model behind a chat endpoint.',
        v.picklist(['moderations', 'guard']),
        'moderations',
      ),
      url: setting('Its address: of the endpoint itself.', optionalAddress, ''),
      model: setting('The model to name to it; empty = none.', v.string(), ''),
      api_key: setting('Its key.', v.string(), ''),
      timeout: setting('How long to wait for it.', duration(1, 600_000), '500ms'),
      on_error: setting('When it does not answer.', v.picklist(['block', 'allow']), 'block'),
    }),
    {},
  ),
  thresholds: setting(
    'Score from which a category counts, 0 to 1, by category.',
    v.record(
      v.pipe(
        v.string(),
        v.regex(/^[a-z_-]{1,60}(?:\/[a-z_-]{1,60})?$/, 'is not a category such as hate or self-harm/intent'),
      ),
      amount(0, 1),
    ),
    {},
  ),
  support_text: setting(
    'Said to whoever is refused for self-harm; empty = nothing.',
    v.pipe(v.string(), v.maxLength(600)),
    'If you are in danger or thinking of harming yourself, please call your local emergency number, or find a ' +
      'crisis line near you at findahelpline.com.',
  ),
});

export const policies = v.strictObject({
  max_per_organization: setting('Most policies an organization may hold.', integer(1, 1_000_000), 500),
  judge: setting(
    'Who scores rules written as prose.',
    v.variant('kind', [
      v.strictObject({
        kind: required('Built in and deterministic: for development and tests.', v.literal('lexical')),
      }),
      v.strictObject({
        kind: required('A chat model answers with a score.', v.literal('model')),
        model: required('A name under models.', modelName),
        timeout: setting('How long to wait for it.', duration(1, 600_000), '2s'),
        on_error: setting(
          'When it does not answer: closed = enforcing policies count as matched, open = as not matched.',
          v.picklist(['closed', 'open']),
          'closed',
        ),
      }),
    ]),
    { kind: 'lexical' },
  ),
  show_decisions: setting(
    'When replies carry x-policy-decision, x-policy-reason-code and x-policy-rollout-mode.',
    v.picklist(['always', 'when_acted', 'never']),
    'when_acted',
  ),
});

export const audit = v.strictObject({
  capture_content: setting('Whether prompts and answers are kept in events, redacted.', v.boolean(), false),
  events: setting(
    'One event per request, or only where something was done.',
    v.picklist(['all', 'acted']),
    'all',
  ),
  durability: setting(
    'async, process (written before the reply ends: survives SIGKILL) or disk (fsynced: survives power loss).',
    v.picklist(['async', 'process', 'disk']),
    'process',
  ),
  retention: setting('How long the local history is kept.', duration(0, 36_500 * 86_400_000), '30d'),
  spool: setting(
    'Events on their way to the sinks.',
    v.strictObject({
      path: setting(
        'Folder, of this gateway alone; by default in that of the embedded store. ":memory:" keeps nothing.',
        word(4096),
        './.sluice/audit',
      ),
      max_bytes: setting('Most it may take.', integer(1_048_576), 1_073_741_824),
      min_free_bytes: setting('Space on the disk it leaves alone.', integer(0), 268_435_456),
    }),
    {},
  ),
});

export const sinks = v.strictObject({
  allow_insecure: setting('Whether sinks may use http://.', v.boolean(), false),
  allow_private_hosts: setting(
    'Private hosts that sinks may reach, by name or address; no port, no range.',
    v.array(
      v.pipe(
        word(255),
        v.regex(
          /^(?:[\w.-]+|\[?[\da-fA-F:.]+\]?)$/,
          'must be a host name or an address, without a port or range',
        ),
      ),
    ),
    [],
  ),
});

export const telemetry = v.strictObject({
  metrics: setting(
    'Prometheus.',
    v.strictObject({ path: setting('Where it scrapes.', urlPath, '/metrics') }),
    {},
  ),
  logs: setting(
    'Logs on standard output.',
    v.strictObject({
      level: setting(
        'Least important line that is written.',
        v.picklist(['debug', 'info', 'warn', 'error', 'silent']),
        'info',
      ),
      format: setting(
        'auto = pretty on a terminal, JSON elsewhere.',
        v.picklist(['auto', 'json', 'pretty']),
        'auto',
      ),
    }),
    {},
  ),
  tracing: setting(
    'OpenTelemetry.',
    v.strictObject({
      otlp_endpoint: setting(
        'OTLP/HTTP collector; empty = no tracing. Not acted on in this version.',
        optionalAddress,
        '',
      ),
    }),
    {},
  ),
});

export const webConsole = v.strictObject({
  enabled: setting('Whether the web console is served; this version has none.', v.boolean(), true),
  path: setting('Where.', urlPath, '/console'),
});
