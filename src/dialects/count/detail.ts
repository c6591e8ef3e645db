import type * as v from 'valibot';

/** One fault, as FastAPI and Pydantic write it. */
export interface Detail {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

type Fault = Pick<Detail, 'type' | 'msg' | 'ctx'>;

const quantity = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const tooShort = (input: unknown, least: number): Fault =>
  typeof input === 'string'
    ? {
        type: 'string_too_short',
        msg: `String should have at least ${quantity(least, 'character')}`,
        ctx: { min_length: least },
      }
    : {
        type: 'too_short',
        msg: `List should have at least ${quantity(least, 'item')} after validation, not ${(input as unknown[]).length}`,
        ctx: { field_type: 'List', min_length: least, actual_length: (input as unknown[]).length },
      };

const literal = (expected: string): Fault => {
  const quoted = `'${expected.slice(1, -1)}'`;
  return { type: 'literal_error', msg: `Input should be ${quoted}`, ctx: { expected: quoted } };
};

const TYPE_FAULTS: Readonly<Record<string, Fault>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  dictionary: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  object: {
    type: 'model_attributes_type',
    msg: 'Input should be a valid dictionary or object to extract fields from',
  },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  number: { type: 'int_type', msg: 'Input should be a valid integer' },
  integer: {
    type: 'int_from_float',
    msg: 'Input should be a valid integer, got a number with a fractional part',
  },
};

const faultOf = (issue: v.BaseIssue<unknown>): Fault => {
  if (issue.received === 'undefined') return { type: 'missing', msg: 'Field required' };
  if (issue.type === 'min_length') return tooShort(issue.input, Number(issue.requirement));
  if (issue.type === 'literal') return literal(issue.expected ?? '');
  const kind = issue.type === 'custom' ? issue.message : issue.type;
  return TYPE_FAULTS[kind] ?? { type: 'value_error', msg: issue.message };
};

const INPUT_BOUND = 1_000;

/** What was sent in the place of the fault. A large one is not sent back. */
const shown = (input: unknown): unknown => {
  if (input === undefined) return null;
  if (typeof input === 'string') return input.slice(0, INPUT_BOUND);
  return JSON.stringify(input).length > INPUT_BOUND ? null : input;
};

export const detailOf = (issue: v.BaseIssue<unknown>): Detail => {
  const path = issue.path ?? [];
  // What lacks a field is shown in its place.
  const input = issue.received === 'undefined' ? path.at(-1)?.input : issue.input;
  return {
    ...faultOf(issue),
    loc: ['body', ...path.map(({ key }) => (typeof key === 'number' ? key : String(key)))],
    input: shown(input),
  };
};

/** A body that is no JSON, found so at this offset. */
export const invalidJsonDetail = (offset: number, error: string): Detail => ({
  type: 'json_invalid',
  loc: ['body', offset],
  msg: 'JSON decode error',
  input: {},
  ctx: { error },
});
