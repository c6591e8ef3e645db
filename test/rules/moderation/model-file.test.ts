import { createHash } from 'node:crypto';
import t from 'tap';
import { BUCKETS } from '../../../src/rules/moderation/hash.js';
import { encodeModel, loadModel, ModelFault } from '../../../src/rules/moderation/model-file.js';
import type { ModelParts } from '../../../src/rules/moderation/model.js';
import { model, modelBytes } from './setting.js';

const parts: ModelParts = {
  weights: new Int8Array(BUCKETS * 6).fill(-3, 100, 200),
  scales: [1, 2, 3, 4, 5, 6],
  biases: [0, 0, 0, 0, 0, -1.5],
  thresholds: [1, 1, 1, 1, 1, 1],
  slopes: [1, 1, 1, 1, 1, 1],
  suspicions: [[0, 0, 0, 0, 0, 0]],
  words: [{ word: 'hello', cost: 12, marks: 0 }],
  explicitPhrases: ['two words'],
};

const sealed = (bytes: Buffer): Buffer => {
  const body = bytes.subarray(0, -32);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
};

t.test('a model comes back from its file as it went in', async (t) => {
  const { words, scales, biases, thresholds, explicitPhrases, fingerprint } = loadModel(encodeModel(parts));
  t.match(parts, { words, scales, biases, thresholds, explicitPhrases });
  t.match(fingerprint, /^[0-9a-f]{16}$/);
  t.same(encodeModel(parts), encodeModel(parts));
});

t.test('the shipped model is whole and calibrated', async (t) => {
  t.ok(modelBytes.length < 2_500_000, 'and small');
  for (const list of [model.thresholds, model.slopes, model.scales, model.biases]) {
    t.equal(list.length, 6);
    t.ok(list.every(Number.isFinite));
  }
  t.ok(model.slopes.every((slope) => slope > 0));
  t.equal(model.suspicions.length, 8);
  t.ok(model.suspicions.flat().every(Number.isFinite));
});

t.test('a damaged file is refused, and the error says what is wrong', async (t) => {
  const changed = Buffer.from(modelBytes);
  changed[500_000]! ^= 1;
  t.throws(() => loadModel(changed), { name: 'ModelFault', message: /damaged: its checksum does not match/ });
  t.throws(() => loadModel(modelBytes.subarray(0, -1)), /damaged/);
  t.throws(() => loadModel(Buffer.alloc(0)), /is not a model file/);
  t.throws(() => loadModel(Buffer.from('{"model": true}'.repeat(20))), /is not a model file/);
  t.throws(() => loadModel(modelBytes.subarray(0, 30)), ModelFault);
});

t.test('a file of another version, size or kind is refused', async (t) => {
  const newer = Buffer.from(encodeModel(parts));
  newer.writeUInt32LE(2, 8);
  t.throws(() => loadModel(sealed(newer)), /has version 2; this program reads 1/);
  const shorter = sealed(Buffer.concat([encodeModel(parts).subarray(0, -40), Buffer.alloc(32)]));
  t.throws(() => loadModel(shorter), /has the wrong length/);
  const other = Buffer.from(encodeModel(parts));
  other.write('"harassmenT"', other.indexOf('"harassment"'));
  t.throws(() => loadModel(sealed(other)), /trained for other categories/);
});
