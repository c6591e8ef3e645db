/** One event as text: LF only, its blank line at the end. The JSON escapes every line break inside it. */
export const frame = (event: string | null, json: unknown): string => frameText(event, JSON.stringify(json));

/** The same for data that is JSON text already, or a bare word such as `[DONE]`; it must hold no line break. */
export const frameText = (event: string | null, data: string): string =>
  event === null ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;

/** A comment: the one heartbeat that every client of every format accepts. */
export const heartbeat: Buffer = Buffer.from(': ping\n\n');
