// Writes config/gateway.schema.json anew: node dist/test/config/write-schema.js
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/repository.js';
import { schemaText } from './json-schema.js';

writeFileSync(join(repositoryRoot, 'config', 'gateway.schema.json'), schemaText());
