/**
 * Runs the tests with real agent CLIs: `npm run test:hosts -- codex gemini`, or all of them without a name. Installs each CLI
 * from npm at its pinned version, one at a time, into the user's cache (or `COXSWAIN_HOSTS`) and keeps it there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { FILE_HOSTS, HOST_DRIVERS } from '../integration/hosts/host-drivers.ts';

const DRIVERS = { ...HOST_DRIVERS, ...FILE_HOSTS };

const folder =
  process.env['COXSWAIN_HOSTS'] ?? join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'coxswain-hosts');
const hosts = process.argv.slice(2);
const unknown = hosts.filter((name) => !Object.hasOwn(DRIVERS, name));
if (unknown.length > 0) {
  console.error(`no host is called ${unknown.join(', ')}; there is: ${Object.keys(DRIVERS).join(', ')}`);
  process.exit(2);
}

function run(program: string, args: readonly string[], options: { readonly cwd?: string } = {}): number {
  const env = { ...process.env, COXSWAIN_HOSTS: folder };
  return spawnSync(program, args, { stdio: 'inherit', env, ...options }).status ?? 1;
}

function install(place: string, name: string, version: string): void {
  if (existsSync(join(place, 'node_modules'))) return;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"private":true}\n');
  if (run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', `${name}@${version}`], { cwd: place }) !== 0) {
    console.error(`${name}@${version} cannot be installed; its tests are skipped`);
  }
}

for (const [host, { package: name, version, ownPackage }] of Object.entries(DRIVERS)) {
  if (hosts.length > 0 && !hosts.includes(host)) continue;
  const place = join(folder, `${host}-${version}`);
  install(place, name, version);
  if (ownPackage !== undefined) install(join(place, 'config'), ownPackage, version);
}
const changedMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (changedMs('dist/index.js') < Math.max(...globSync('src/**/*.ts').map(changedMs))) run('node', ['scripts/build.ts']);
const only = hosts.length === 0 ? [] : ['-t', `^(?:${hosts.join('|')})[ :]`];
process.exitCode = run('vitest', [
  'run',
  '--config',
  'integration/hosts/vitest.config.ts',
  '--reporter=verbose',
  ...only,
]);
