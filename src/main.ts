#!/usr/bin/env node
import { run } from './commands/run.js';

// A reader that went away (sluice keys list | head) is no error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// http-proxy-3 would take its fetch path, which reads on after the client has left.
delete process.env['FORCE_FETCH_PATH'];

const code = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  isInteractive: process.stdout.isTTY,
  environment: process.env,
});

// Idle sockets and timers must not hold a finished process, but what was written must arrive.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
