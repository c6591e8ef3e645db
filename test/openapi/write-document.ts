// Writes docs/openapi.json anew: npm run docs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/repository.js';
import { documentText } from './document.js';

writeFileSync(join(repositoryRoot, 'docs', 'openapi.json'), documentText());
