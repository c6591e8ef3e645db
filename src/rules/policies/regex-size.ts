/**
 * An upper bound of the instructions a pattern compiles to, in one cheap pass: what `{n,m}` multiplies is known before
 * anything is built. What is no pattern at all gets some number; its compiler says what is wrong with it.
 */
export const expandedSize = (pattern: string): number => {
  const open: Frame[] = [];
  let frame: Frame = { sum: 1, last: 0 };
  const add = (size: number): void => {
    frame.sum += frame.last;
    frame.last = size;
  };
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '\\':
        if (pattern[at + 1] === 'Q') {
          const end = pattern.indexOf('\\E', at + 2);
          const quoted = (end < 0 ? pattern.length : end) - at - 2;
          frame.sum += quoted;
          at += quoted + 3;
        } else {
          add(1);
          at += 1;
        }
        break;
      case '[':
        at = endOfClass(pattern, at);
        add(1);
        break;
      case '(':
        open.push(frame);
        frame = { sum: 2, last: 0 };
        break;
      case ')': {
        const size = frame.sum + frame.last;
        frame = open.pop() ?? { sum: 1, last: 0 };
        add(size);
        break;
      }
      case '|':
        add(1);
        break;
      case '{': {
        const repeat = /^\{(\d+)(,?)(\d*)\}/.exec(pattern.slice(at, at + 24));
        if (repeat) {
          const [whole, least, comma, most] = repeat;
          const times = Math.max(Number(least) + (comma === '' ? 0 : 1), Number(most));
          // An optional repetition costs a branch beside its copy.
          frame.last = (frame.last + (comma === '' ? 0 : 1)) * Math.max(1, times);
          at += whole.length - 1;
        } else {
          add(1);
        }
        break;
      }
      case '*':
      case '+':
      case '?':
        frame.last += 1;
        break;
      default:
        add(1);
    }
  }
  return [...open, frame].reduce((size, { sum, last }) => size + sum + last, 0);
};

interface Frame {
  sum: number;
  /** Of the last thing, which a repetition would multiply. */
  last: number;
}

/** The place of the closing bracket; a bracket in first place closes nothing. */
const endOfClass = (pattern: string, start: number): number => {
  let at = start + 1;
  if (pattern[at] === '^') at += 1;
  if (pattern[at] === ']') at += 1;
  for (; at < pattern.length; at++) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '[' && pattern[at + 1] === ':') at = endOfPosixName(pattern, at);
    else if (pattern[at] === ']') return at;
  }
  return at;
};

const endOfPosixName = (pattern: string, start: number): number => {
  const end = pattern.indexOf(':]', start + 2);
  return end < 0 ? start : end + 1;
};
