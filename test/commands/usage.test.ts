import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../src/commands/run.js';
import { readRepositoryFile } from '../support/repository.js';
import { sluice, sluiceHere } from './sluice.js';

t.test('D45 every command is listed, and explains itself', async (t) => {
  const { code, out } = await sluice(['help']);
  t.equal(code, 0);
  for (const { name } of commands) {
    t.match(out, new RegExp(`^  ${name} `, 'm'));
    for (const words of [
      ['help', ...name.split(' ')],
      [...name.split(' '), '--help'],
      [...name.split(' '), '-h'],
    ]) {
      const help = await sluiceHere(words);
      t.equal(help.code, 0, words.join(' '));
      t.match(help.out, `sluice ${name}`);
    }
  }
});

t.test('D45 wrong usage exits 2 and says what was probably meant', async (t) => {
  for (const [words, message] of [
    [['kyes', 'list'], 'sluice: unknown command "kyes"; did you mean keys?'],
    [['keys', 'creat'], 'sluice: unknown command "keys creat"; did you mean keys create?'],
    [['check', '--confg', 'x'], 'sluice: unknown option --confg; did you mean --config?'],
    [['check', '--config'], 'sluice: --config needs a value: --config FILE'],
    [['check', '--json=yes'], 'sluice: --json takes no value'],
    [['check', 'a', 'b'], 'sluice: unexpected argument "b"'],
    [['keys', 'list'], 'sluice: missing ORG'],
    [['keys', 'revoke'], 'sluice: missing ORG and KEY'],
    [['keys', 'create', 'org_a'], 'sluice: --name is required'],
    [['credits', 'add', 'org_a', 'many'], 'sluice: CREDITS must be a number'],
    [['orgs', 'set', 'org_a'], 'sluice: nothing to change: give --name, --plan or --credits'],
    [
      ['orgs', 'create', 'A', '--plan', 'huge'],
      'sluice: --plan must be one of free, developer, growth, scale',
    ],
    [['healthcheck', '--timeout', 'soon'], 'sluice: --timeout must be a duration such as 3s'],
    [['help', 'nothing'], 'sluice: unknown command "nothing"'],
    [['--prot', '1'], 'sluice: unknown option --prot'],
  ] as const) {
    const { code, out, err } = await sluiceHere(words);
    t.equal(code, 2, words.join(' '));
    t.equal(err.split('\n')[0], message);
    t.equal(out, '');
  }
  t.match(await sluiceHere(['keys']), { code: 2, err: /keys create/ });
  t.match(await sluice(['kyes']), { code: 2 }, 'the process too');
});

t.test('D45 version and schema print what is shipped', async (t) => {
  const { version } = JSON.parse(readRepositoryFile('package.json')) as { version: string };
  t.match((await sluice(['version'])).out, `sluice ${version} (Node ${process.versions.node}`);
  t.match((await sluiceHere(['--version'])).out, `sluice ${version} `);
  t.equal((await sluice(['schema'])).out, readRepositoryFile('config/gateway.schema.json'));
});

t.test('D45 check tells all faults, on standard error, and exits 2', async (t) => {
  const folder = t.testdir({
    'good.yaml': 'version: 1\n',
    'bad.yaml': 'version: 1\nserver: { prot: x }\nstor: 1\n',
  });
  const [good, bad] = [join(folder, 'good.yaml'), join(folder, 'bad.yaml')];
  t.strictSame(await sluice(['check', '--config', good]), { code: 0, out: `${good} is valid.\n`, err: '' });
  t.match(await sluiceHere(['check', good]), { code: 0 });
  t.match(await sluiceHere(['check'], { env: { SLUICE_CONFIG: good } }), {
    code: 0,
    out: `${good} is valid.\n`,
  });
  t.match(await sluiceHere(['check']), { code: 0, out: 'The built-in configuration is valid.\n' });
  t.strictSame(await sluice(['check', bad]), {
    code: 2,
    out: '',
    err: `${bad}:2:11 server.prot: is not a known key; did you mean port?\n${bad}:3:1 stor: is not a known key; did you mean store?\n`,
  });
  const { code, out } = await sluiceHere(['check', bad, '--json']);
  t.equal(code, 2);
  t.match(JSON.parse(out), {
    valid: false,
    faults: [{ line: 2, column: 11, path: 'server.prot' }, { line: 3 }],
  });
  t.match(
    await sluiceHere(['orgs', 'list', '--config', bad]),
    { code: 2, err: /server\.prot/ },
    'other commands too',
  );
});
