// A gateway in a process of its own, so that its loop is nobody else's: it is sent a configuration, tells its port, and
// how long its loop was held up at most since it was last asked.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Config } from '../../../src/config/schema.js';
import { silentLog } from '../../../src/core/log.js';
import { startGateway } from '../../../src/gateway.js';

const RESOLUTION_MS = 2;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

process.once('message', (config) => {
  void startGateway(config as Config, { log: silentLog, version: '0.0.0-test' }).then((gateway) => {
    delay.enable();
    process.on('message', (word) => {
      if (word === 'close') void gateway.close().then(() => process.disconnect());
      else {
        process.send?.({ heldMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS) });
        delay.reset();
      }
    });
    process.send?.({ port: gateway.address.port });
  });
});
