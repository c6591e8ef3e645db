/** One line of a Prometheus exposition, read strictly; whatever does not parse throws. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sampleShape = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelShape = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gy;

export function readExposition(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the exposition must end with a newline');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type) {
      if (types.has(type[1]!)) throw new Error(`two TYPE lines for ${type[1]!}`);
      types.set(type[1]!, type[2]!);
    }
    if (line === '' || line.startsWith('# ')) continue;
    const sample = readSample(line);
    const family = sample.name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(sample.name) && !types.has(family)) throw new Error(`no TYPE line before: ${line}`);
    samples.push(sample);
  }
  const keys = samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()]));
  if (new Set(keys).size !== keys.length) throw new Error('a series appears twice');
  return samples;
}

function readSample(line: string): Sample {
  const match = sampleShape.exec(line);
  const value = match?.[3] === '+Inf' ? Infinity : match?.[3] === 'Nan' ? NaN : Number(match?.[3]);
  if (!match || (Number.isNaN(value) && match[3] !== 'Nan')) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  const text = match[2] ?? '';
  let end = 0;
  for (const [whole, name, escaped] of text.matchAll(labelShape)) {
    labels[name!] = escaped!.replace(/\\(.)/g, (_, character: string) =>
      character === 'n' ? '\n' : character,
    );
    end += whole.length;
  }
  if (end !== text.length) throw new Error(`labels that do not parse: ${line}`);
  return { name: match[1]!, labels, value };
}

export const valueOf = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined =>
  samples.find(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
