import type { Test } from 'tap';
import { createHttpProvider, type HttpProviderOptions } from '../../../src/io/upstream/http-provider.js';
import { UpstreamFault, type Provider, type UpstreamAnswer } from '../../../src/io/upstream/provider.js';
import { checkLeaks } from '../../support/leaks.js';
import {
  startFakeProvider,
  type FakeProvider,
  type FakeProviderOptions,
  type Script,
} from '../../support/fake-provider.js';

export const SECRET = 'sk-upstream-secret';

export const optionsFor = (
  baseUrl: string,
  {
    timeouts,
    ...overrides
  }: Partial<Omit<HttpProviderOptions, 'timeouts'>> & {
    readonly timeouts?: Partial<HttpProviderOptions['timeouts']>;
  } = {},
): HttpProviderOptions => ({
  name: 'fake',
  kind: 'anthropic',
  baseUrl,
  apiKey: SECRET,
  attempts: 1,
  headers: {},
  query: {},
  proxyUrl: '',
  caPem: '',
  ...overrides,
  timeouts: { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000, ...timeouts },
});

type Overrides = Parameters<typeof optionsFor>[1];

/** A provider for one test, closed after it; whatever it leaves open fails the test. */
export const provide = (t: Test, baseUrl: string, overrides: Overrides = {}): Provider => {
  const provider = createHttpProvider(optionsFor(baseUrl, overrides));
  t.teardown(() => provider.close());
  return provider;
};

/** The same with a fake upstream behind it. */
export const stage = async (
  t: Test,
  script: Script,
  overrides: Overrides = {},
  fakeOptions: FakeProviderOptions = {},
): Promise<{ readonly fake: FakeProvider; readonly provider: Provider }> => {
  checkLeaks(t);
  const fake = await startFakeProvider(script, fakeOptions);
  t.teardown(() => fake.close());
  return { fake, provider: provide(t, fake.url, overrides) };
};

export const post = (
  provider: Provider,
  { signal = new AbortController().signal, headers = {}, body = '{}', path = '/v1/messages' } = {},
): Promise<UpstreamAnswer> => provider.send({ path, headers, body, signal });

export const textOf = async ({ body }: UpstreamAnswer): Promise<string> => {
  let text = '';
  for await (const chunk of body as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
};

/** The fault a promise ends in; anything else fails the test by throwing. */
export const faultOf = async (promise: Promise<unknown>): Promise<UpstreamFault> => {
  const thrown = await promise.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  );
  if (thrown instanceof UpstreamFault) return thrown;
  throw thrown;
};

/** Waits for something that must come true; a test that waits in vain says so. */
export const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (const endMs = performance.now() + 5_000; !holds();) {
    if (performance.now() > endMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
