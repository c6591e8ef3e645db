import { isatty } from 'node:tty';
import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Log } from '../../core/log.js';
import { keepAllowed, printable } from './fields.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type LogFormat = 'auto' | 'json' | 'pretty';

export interface LogOptions {
  readonly level: LogLevel;
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: LogFormat;
  readonly version: string;
  /** Where lines go; standard output if not given. */
  readonly stream?: DestinationStream;
}

export interface GatewayLog extends Log {
  setLevel(level: LogLevel): void;
  /** Writes out what is still in memory; call it last. */
  flush(): void;
}

const STDOUT = 1;
const MESSAGE_BOUND = 1_000;
// A log collector that stops reading must cost lines, not memory and not requests.
const BUFFER_BYTES = 8 * 1024 * 1024;

export function createLog(options: LogOptions): GatewayLog {
  const sink = openSink(options);
  const logger = pino(
    {
      level: options.level,
      base: { service: 'sluice', version: options.version },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (described: unknown) => described },
    },
    sink,
  );
  sink.tellLosses(logger);
  return {
    debug: (fields, message) => write(logger, 'debug', fields, message),
    info: (fields, message) => write(logger, 'info', fields, message),
    warn: (fields, message) => write(logger, 'warn', fields, message),
    error: (fields, message) => write(logger, 'error', fields, message),
    setLevel(level) {
      logger.level = level;
    },
    flush: () => sink.flush(),
  };
}

function write(
  logger: Logger,
  level: 'debug' | 'info' | 'warn' | 'error',
  fields: object,
  message: string,
): void {
  if (logger.isLevelEnabled(level)) logger[level](keepAllowed(fields), printable(message, MESSAGE_BOUND));
}

interface LineSink extends DestinationStream {
  flush(): void;
  /** Says, once lines can be written again, how many could not. */
  tellLosses(logger: Logger): void;
}

function openSink({ format, stream }: LogOptions): LineSink {
  const terminal = stream === undefined && isatty(STDOUT);
  const pretty = format === 'pretty' || (format === 'auto' && terminal);
  const target =
    stream === undefined ? openStdout(pretty) : { write: stream.write.bind(stream), ...noLosses };
  if (!pretty) return target;
  const prettify = prettyFactory({
    colorize: terminal,
    singleLine: true,
    ignore: 'service,version',
    translateTime: 'SYS:HH:MM:ss.l',
  });
  return { ...target, write: (line) => target.write(prettify(line)) };
}

const noLosses = { flush(): void {}, tellLosses(): void {} };

/** `sync` keeps the order with what commands print to a terminal; a service must never wait for its log's reader. */
function openStdout(sync: boolean): LineSink {
  const stdout = destination({ dest: STDOUT, sync, maxLength: BUFFER_BYTES });
  let droppedLines = 0;
  // A full disk or a closed pipe behind standard output is no reason to stop serving.
  stdout.on('error', () => {});
  stdout.on('drop', () => droppedLines++);
  return {
    write: (line) => void stdout.write(line),
    flush() {
      try {
        stdout.flushSync();
      } catch {
        // nowhere left to say it
      }
    },
    tellLosses(logger) {
      stdout.on('drain', () => {
        if (droppedLines === 0) return;
        logger.warn({ dropped_lines: droppedLines }, 'log lines were dropped: standard output was not read');
        droppedLines = 0;
      });
    },
  };
}
