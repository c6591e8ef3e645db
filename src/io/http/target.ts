export type Target =
  | { readonly ok: true; readonly path: string; readonly query: URLSearchParams }
  | { readonly ok: false; readonly message: string };

const fault = (message: string): Target => ({ ok: false, message });

const PLAIN_PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;
const PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/%]*$/;
const QUERY = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/; // visible ASCII less `#` and the backslash
const DOT_SEGMENT = /(?:^|\/)\.{1,2}(?:\/|$)/;
const CONTROL = /\p{Cc}/u;
const ENCODED_SEPARATOR = /%(?:2f|5c)/i;
const ENCODED_NUL = /%00/;

/** undefined where the escapes are broken or are not UTF-8. */
const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/**
 * The request target as one path with one meaning: whatever a proxy in front or an upstream behind might read
 * differently is refused rather than normalised.
 */
export const parseTarget = (target: string): Target => {
  const mark = target.indexOf('?');
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const rawQuery = mark < 0 ? '' : target.slice(mark + 1);

  let path = rawPath;
  if (!PLAIN_PATH.test(rawPath)) {
    if (!rawPath.startsWith('/')) return fault('The request target must be a path that begins with a slash.');
    if (!PATH.test(rawPath)) return fault('The path holds a character that must not stand there.');
    if (ENCODED_SEPARATOR.test(rawPath)) return fault('The path holds an encoded slash or backslash.');
    const decoded = decode(rawPath);
    if (decoded === undefined) return fault('The path holds an escape that is not valid UTF-8.');
    if (CONTROL.test(decoded)) return fault('The path holds a control character.');
    path = decoded;
  }
  if (path.includes('//')) return fault('The path holds an empty segment.');
  if (DOT_SEGMENT.test(path)) return fault('The path holds a dot segment.');

  if (rawQuery !== '') {
    if (!QUERY.test(rawQuery)) return fault('The query holds a character that must not stand there.');
    if (rawQuery.includes('%')) {
      if (decode(rawQuery) === undefined) return fault('The query holds an escape that is not valid UTF-8.');
      if (ENCODED_NUL.test(rawQuery)) return fault('The query holds a NUL.');
    }
  }
  return { ok: true, path, query: new URLSearchParams(rawQuery) };
};
