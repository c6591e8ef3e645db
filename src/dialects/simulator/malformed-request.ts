/** A body the simulator cannot read; answered with the format's 400. */
export class MalformedRequest extends Error {
  readonly param: string | null;

  constructor(param: string | null, message: string) {
    super(message);
    this.name = 'MalformedRequest';
    this.param = param;
  }
}
