import type { Metric, MetricType, Registry } from 'prom-client';

/** Series for prom-client's registry whose children are plain objects: a call on the hot path is an addition, no lookup. */

export class Value {
  value = 0;
}

/** Counts per bucket are kept apart and added up only when read. */
export class Distribution {
  readonly bounds: Float64Array;
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: Float64Array) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    this.counts[low]!++;
    this.sum += value;
  }
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

interface FamilyOptions<Child> {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly make: () => Child;
  readonly read: (child: Child, labels: Readonly<Record<string, string>>, name: string) => Sample[];
}

export interface Family<Child> {
  /** The child with these label values, made on first use. The caller bounds how many there can be. */
  child(...values: readonly string[]): Child;
}

function register<Child>(registry: Registry, options: FamilyOptions<Child>): Family<Child> {
  const { name, help, type, labels, make, read } = options;
  const children = new Map<string, { readonly child: Child; readonly labels: Record<string, string> }>();
  const metric = {
    name,
    help,
    type,
    get: async () => ({
      name,
      help,
      type: type as unknown as MetricType,
      aggregator: 'sum',
      values: [...children.values()].flatMap((entry) => read(entry.child, entry.labels, name)),
    }),
    reset: () => children.clear(),
  };
  registry.registerMetric(metric as unknown as Metric);
  return {
    child(...values) {
      const key = JSON.stringify(values);
      let entry = children.get(key);
      if (entry === undefined) {
        entry = {
          child: make(),
          labels: Object.fromEntries(labels.map((label, i) => [label, values[i] ?? ''])),
        };
        children.set(key, entry);
      }
      return entry.child;
    },
  };
}

const readValue = (child: Value, labels: Readonly<Record<string, string>>): Sample[] => [
  { labels, value: child.value },
];

export const counter = (registry: Registry, name: string, help: string, labels: readonly string[]) =>
  register(registry, { name, help, type: 'counter', labels, make: () => new Value(), read: readValue });

export const gauge = (registry: Registry, name: string, help: string, labels: readonly string[]) =>
  register(registry, { name, help, type: 'gauge', labels, make: () => new Value(), read: readValue });

export const histogram = (
  registry: Registry,
  name: string,
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
) => {
  const bounds = Float64Array.from(buckets);
  return register(registry, {
    name,
    help,
    type: 'histogram',
    labels,
    make: () => new Distribution(bounds),
    read: readDistribution,
  });
};

function readDistribution(
  child: Distribution,
  labels: Readonly<Record<string, string>>,
  name: string,
): Sample[] {
  let total = 0;
  const buckets = Array.from(child.counts, (count, i): Sample => {
    total += count;
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: child.bounds[i] ?? '+Inf' },
      value: total,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: child.sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

const NAME_BOUND = 128;

/**
 * Remembers what was made for a name, for at most `most` names; every later one shares the entry 'other'. Whatever a
 * caller sends, the number of series stays bounded.
 */
export function bounded<Entry>(most: number, make: (name: string) => Entry): (name: string) => Entry {
  const entries = new Map<string, Entry>();
  let other: Entry | undefined;
  return (name) => {
    const known = entries.get(name);
    if (known !== undefined) return known;
    if (name === 'other' || name.length > NAME_BOUND || entries.size >= most)
      return (other ??= make('other'));
    const entry = make(name);
    entries.set(name, entry);
    return entry;
  };
}
