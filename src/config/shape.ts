import type { Finding, Path } from './faults.js';
import { didYouMean, nearest } from './suggest.js';

/** The parts of a valibot schema that say which keys may stand where. */
export interface ShapeSchema {
  readonly type: string;
  readonly entries?: Readonly<Record<string, ShapeSchema>>;
  readonly item?: ShapeSchema;
  readonly value?: ShapeSchema;
  readonly wrapped?: ShapeSchema;
  readonly key?: unknown;
  readonly options?: readonly unknown[];
}

export interface ShapeReport {
  readonly findings: readonly Finding[];
  /** Keys that a misspelt one stands for: reporting them as missing as well would only confuse. */
  readonly meant: readonly Path[];
}

/** Finds every unknown key (valibot stops at the first of each map) and every list where a map belongs. */
export function findStrangers(schema: ShapeSchema, value: unknown): ShapeReport {
  const findings: Finding[] = [];
  const meant: Path[] = [];

  const readMap = (entries: Readonly<Record<string, ShapeSchema>>, map: object, path: Path): void => {
    const absent = Object.keys(entries).filter((key) => !Object.hasOwn(map, key));
    for (const [key, item] of Object.entries(map)) {
      const entry = Object.hasOwn(entries, key) ? entries[key] : undefined;
      if (entry) {
        read(entry, item, [...path, key]);
        continue;
      }
      const suggestion = nearest(key, absent);
      if (suggestion !== undefined) meant.push([...path, suggestion]);
      const known = suggestion === undefined ? Object.keys(entries) : absent;
      findings.push({
        path: [...path, key],
        message: `is not a known key${didYouMean(key, known)}`,
        atKey: true,
      });
    }
  };

  const read = (at: ShapeSchema, item: unknown, path: Path): void => {
    if (at.wrapped) read(at.wrapped, item, path);
    else if (typeof item !== 'object' || item === null) return;
    else if (at.type === 'array') {
      if (at.item && Array.isArray(item))
        for (const [index, one] of item.entries()) read(at.item, one, [...path, index]);
    } else if (Array.isArray(item) && ['strict_object', 'variant', 'record'].includes(at.type)) {
      findings.push({ path, message: 'must be a map of keys, not a list' });
    } else if (at.type === 'strict_object' && at.entries) readMap(at.entries, item, path);
    else if (at.type === 'record' && at.value) {
      for (const [key, one] of Object.entries(item)) read(at.value, one, [...path, key]);
    } else if (at.type === 'variant') {
      const option = chosenOption(at, item as Readonly<Record<string, unknown>>);
      if (option) read(option, item, path);
    }
  };

  read(schema, value, []);
  return { findings, meant };
}

function chosenOption(
  variant: ShapeSchema,
  item: Readonly<Record<string, unknown>>,
): ShapeSchema | undefined {
  const options = (variant.options ?? []) as readonly ShapeSchema[];
  const given = item[String(variant.key)];
  return options.find((option) => {
    const discriminator = option.entries?.[String(variant.key)];
    const literal = discriminator && 'literal' in discriminator ? discriminator.literal : undefined;
    return literal === given || (discriminator?.options ?? []).includes(given);
  });
}
