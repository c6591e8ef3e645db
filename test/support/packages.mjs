// Finds the programs that tests talk to, and installs them where that is allowed.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of these programs on PATH, or null. */
export function findProgram(...names) {
  for (const name of names)
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // not here
      }
    }
  return null;
}

/** As root on Debian and its kin: installs the packages, stops the services that came with them. Says whether it could. */
export function installOnDebian(packages) {
  if (process.getuid?.() !== 0 || findProgram('apt-get') === null) return false;
  console.log(`installing ${packages.join(', ')} (apt-get)`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => {
    const run = spawnSync('apt-get', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    if (run.status !== 0) console.error(run.stderr || run.stdout || String(run.error));
    return run.status === 0;
  };
  apt('update', '-q');
  if (!apt('install', '-y', '-q', '--no-install-recommends', ...packages)) return false;
  for (const service of packages) stopService(service);
  return true;
}

/** The command that installs a package on this platform, for a person to run. */
export function installCommand({ apt, dnf, apk, brew }) {
  if (process.platform === 'darwin') return `brew install ${brew}`;
  if (findProgram('apt-get')) return `sudo apt-get update && sudo apt-get install -y ${apt}`;
  if (findProgram('dnf')) return `sudo dnf install -y ${dnf}`;
  if (findProgram('apk')) return `sudo apk add ${apk}`;
  if (findProgram('brew')) return `brew install ${brew}`;
  return `install the package that brings ${apt}${platformName()}`;
}

function stopService(name) {
  if (existsSync('/run/systemd/system')) spawnSync('systemctl', ['disable', '--now', name]);
  else if (findProgram('service')) spawnSync('service', [name, 'stop']);
}

function platformName() {
  try {
    const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
    return name ? ` on ${name}` : '';
  } catch {
    return '';
  }
}
