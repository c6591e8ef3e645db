import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { isListed } from '../../../src/io/log/fields.js';
import { readRepositoryFile, repositoryRoot } from '../../support/repository.js';

/** The names of the fields written out in every `log.info({ ... }, ...)` of a source, whatever object holds the log. */
function fieldsLogged(text: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      const [fields] = node.arguments;
      const isLog = /(^|\.)#?log$/.test(expression.getText()) && /^(debug|info|warn|error)$/.test(name.text);
      if (isLog && fields && ts.isObjectLiteralExpression(fields))
        names.push(...fields.properties.flatMap(({ name: field }) => (field ? [field.getText()] : [])));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true));
  return names;
}

t.test('the search finds fields where logs are written', async (t) => {
  t.same(
    fieldsLogged(
      `log.info({ file, err: error }, 'a'); this.#log.warn({ ...rest, 'x': 1 }, 'b'); math.log({ y });`,
    ),
    ['file', 'err', "'x'"],
  );
});

t.test('every field that the code logs is on the list, so none is dropped', async (t) => {
  const files = readdirSync(join(repositoryRoot, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(repositoryRoot, join(entry.parentPath, entry.name)));
  const unlisted = files.flatMap((file) =>
    fieldsLogged(readRepositoryFile(file))
      .filter((name) => !isListed(name))
      .map((name) => `${file}: ${name}`),
  );
  t.same(unlisted, []);
});
