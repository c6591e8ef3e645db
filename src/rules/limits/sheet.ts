/** The reply described at the head of admit.lua, while it is written. One call ends before the next begins, so they share one. */
export class Sheet {
  numbers = new Float64Array(256);
  length = 0;
  /** Pairs (bucket, wait) of everything violated. */
  readonly violated: number[] = [];
  longestMs = 0;
  /** The bucket that has to wait for longest. */
  binding = 0;

  clear(): void {
    this.length = 0;
    this.forgive();
  }

  add(number: number): void {
    if (this.length === this.numbers.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.numbers[this.length++] = number;
  }

  /** No wait = nothing is violated. */
  violate(bucket: number, waitMs: number): void {
    if (waitMs === 0) return;
    this.violated.push(bucket, waitMs);
    if (waitMs <= this.longestMs) return;
    this.longestMs = waitMs;
    this.binding = bucket;
  }

  forgive(): void {
    if (this.violated.length > 0) this.violated.length = 0;
    this.longestMs = 0;
  }
}
