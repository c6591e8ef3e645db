// One line for each suite, and for each failure its name and what went wrong: seven hundred good lines help nobody.
const indent = (text) => String(text).replace(/^/gm, '    ');

/** A reporter for Node's test runner, which looks for a default export. */
async function* report(events) {
  let path = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') path = [...path.slice(0, data.nesting), data.name];
    const isSuite = data?.details?.type === 'suite';
    if (type === 'test:pass' && isSuite)
      yield `ok ${data.name} (${Math.round(data.details.duration_ms)} ms)\n`;
    if (type === 'test:fail' && !isSuite) {
      const { error } = data.details;
      yield `not ok ${[...path.slice(0, data.nesting), data.name].join(': ')}\n${indent(error?.cause?.stack ?? error?.message ?? error)}\n`;
    }
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    if (type === 'test:summary' && data.file === undefined)
      yield `\nclients: ${data.counts.passed} passed, ${data.counts.failed + data.counts.cancelled} failed, ${data.counts.skipped} skipped\n`;
  }
}

export { report as default };
