import type { Step } from './records.js';

const PARTITION = /^[^{}\0-\x1f\p{Surrogate}]{1,256}$/u; // braces mark the hash tag of a Redis key
const COLLECTION = /^[\w./-]{1,512}$/;
const ID = /^[^\0\p{Surrogate}]{1,1024}$/u;

/** Both stores refuse the same names: what one keeps, the other can keep too. */
export function checkPartition(partition: string): void {
  if (!PARTITION.test(partition)) throw new RangeError('This is not the name of a partition.');
}

export function checkPlace(partition: string, collection: string, id: string): void {
  checkPartition(partition);
  checkCollection(collection);
  checkId(id);
}

export function checkCollection(collection: string): void {
  if (!COLLECTION.test(collection)) throw new RangeError('This is not the name of a collection.');
}

export function checkId(id: string): void {
  if (!ID.test(id)) throw new RangeError('This is not an id.');
}

export function checkSteps(partition: string, steps: readonly Step[]): void {
  checkPartition(partition);
  for (const step of steps) {
    if (step.op === 'put' || step.op === 'delete') checkPlace(partition, step.collection, step.id);
    else if (step.op === 'room') checkCollection(step.collection);
    else {
      checkId(step.digest);
      if (step.op === 'point') checkPlace(step.to.partition, step.to.collection, step.to.id);
    }
    if (step.op === 'put' && step.ttlMs !== undefined && !(step.ttlMs >= 1))
      throw new RangeError('A ttl is at least one millisecond.');
  }
}
