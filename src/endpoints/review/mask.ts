import type { Redactor } from '../../text/redact.js';

const maskIn = (value: unknown, mask: (text: string) => string): unknown => {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((each) => maskIn(each, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskIn(member, mask)]));
};

/** A call's arguments with their strings masked; as they are where nothing is found, as text where they are no JSON. */
export const maskArguments = (
  text: string,
  redactor: Redactor,
  found: (kind: string) => void = () => undefined,
): string => {
  let changed = false;
  const mask = (given: string): string => {
    const { text: masked, kinds } = redactor.redact(given);
    for (const kind of kinds) found(kind);
    changed ||= masked !== given;
    return masked;
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return mask(text);
  }
  const masked = maskIn(value, mask);
  return changed ? JSON.stringify(masked) : text;
};
