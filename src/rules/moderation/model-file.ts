import { createHash } from 'node:crypto';
import { BUCKETS } from './hash.js';
import type { LexiconWord } from './lexicon.js';
import { assembleModel, modelCategories, type Model, type ModelParts } from './model.js';

// magic | version | bytes of the header | bytes of the words | header (JSON) | words (text) | weights | SHA-256 of all before
const MAGIC = Buffer.from('SLUICEMM');
const VERSION = 1;
const HEAD_BYTES = MAGIC.length + 12;
const WEIGHT_BYTES = BUCKETS * modelCategories.length;
const DIGEST_BYTES = 32;

type Header = Omit<ModelParts, 'weights' | 'words'> & {
  readonly categories: readonly string[];
  readonly buckets: number;
};

/** A model file that cannot be used, and why. */
export class ModelFault extends Error {
  constructor(message: string) {
    super(`The moderation model ${message}`);
    this.name = 'ModelFault';
  }
}

export const loadModel = (bytes: Buffer): Model => {
  if (bytes.length < HEAD_BYTES + DIGEST_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ModelFault('is not a model file.');
  const version = bytes.readUInt32LE(MAGIC.length);
  if (version !== VERSION) throw new ModelFault(`has version ${version}; this program reads ${VERSION}.`);
  const digest = digestOf(bytes.subarray(0, -DIGEST_BYTES));
  if (!digest.equals(bytes.subarray(-DIGEST_BYTES)))
    throw new ModelFault('is damaged: its checksum does not match.');
  const headerEnd = HEAD_BYTES + bytes.readUInt32LE(MAGIC.length + 4);
  const wordsEnd = headerEnd + bytes.readUInt32LE(MAGIC.length + 8);
  if (wordsEnd + WEIGHT_BYTES + DIGEST_BYTES !== bytes.length) throw new ModelFault('has the wrong length.');
  const header = JSON.parse(bytes.toString('utf8', HEAD_BYTES, headerEnd)) as Header;
  if (header.buckets !== BUCKETS || header.categories.join() !== modelCategories.join())
    throw new ModelFault('was trained for other categories or another table.');
  const weights = new Int8Array(WEIGHT_BYTES);
  weights.set(bytes.subarray(wordsEnd, wordsEnd + WEIGHT_BYTES));
  const words = readWords(bytes.toString('utf8', headerEnd, wordsEnd));
  return assembleModel({ ...header, weights, words }, digest.toString('hex').slice(0, 16));
};

export const encodeModel = ({ weights, words, ...rest }: ModelParts): Buffer => {
  const header = Buffer.from(
    JSON.stringify({ categories: modelCategories, buckets: BUCKETS, ...rest } satisfies Header),
  );
  const text = Buffer.from(words.map(({ word, cost, marks }) => `${word} ${cost} ${marks}`).join('\n'));
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(VERSION, MAGIC.length);
  head.writeUInt32LE(header.length, MAGIC.length + 4);
  head.writeUInt32LE(text.length, MAGIC.length + 8);
  const body = Buffer.concat([
    head,
    header,
    text,
    Buffer.from(weights.buffer, weights.byteOffset, weights.length),
  ]);
  return Buffer.concat([body, digestOf(body)]);
};

const digestOf = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

const readWords = (text: string): LexiconWord[] =>
  text.split('\n').flatMap((line) => {
    const [word = '', cost, marks] = line.split(' ');
    return word === '' ? [] : [{ word, cost: Number(cost), marks: Number(marks) }];
  });
