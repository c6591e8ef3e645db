import { OK, type Command } from './command.js';
import { readShipped, readVersion } from './shipped.js';

export const version: Command = {
  name: 'version',
  about: 'Print the version.',
  async run(_input, terminal) {
    terminal.out(
      `sluice ${readVersion()} (Node ${process.versions.node}, ${process.platform} ${process.arch})`,
    );
    return OK;
  },
};

export const schema: Command = {
  name: 'schema',
  about: 'Print the JSON Schema of the configuration file.',
  async run(_input, terminal) {
    terminal.out(readShipped('config/gateway.schema.json').trimEnd());
    return OK;
  },
};

export const openapi: Command = {
  name: 'openapi',
  about: 'Print the OpenAPI document of the HTTP interface.',
  async run(_input, terminal) {
    terminal.out(readShipped('docs/openapi.json').trimEnd());
    return OK;
  },
};
