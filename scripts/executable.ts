/**
 * Builds coxswain as a single-file executable: `npm run executable -- OUT`. The file is Bun with the installed package embedded. At first
 * start it unpacks the package into the user's cache and runs the command from there, because threads, hooks and the viewer need files.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

import { BUN, installPackage, programOf } from './runtimes.ts';

/** Runs in Bun. With `BUN_BE_BUN`, child processes started through this executable are plain Bun. */
const MAIN = `
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import archive from './package.gz' with { type: 'file' };
import hash from './hash.txt' with { type: 'text' };

const place = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'coxswain', hash);
if (!existsSync(place)) {
  const unfinished = place + '.' + process.pid;
  for (const [name, text] of Object.entries(JSON.parse(gunzipSync(readFileSync(archive)).toString()))) {
    mkdirSync(dirname(join(unfinished, name)), { recursive: true });
    writeFileSync(join(unfinished, name), Buffer.from(text, 'base64'), { mode: 0o600 });
  }
  try {
    renameSync(unfinished, place);
  } catch (error) {
    // Another process was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(place)) throw error;
  }
}
process.env.BUN_BE_BUN = '1';
process.argv[1] = join(place, 'node_modules/coxswain/dist/cli/bin.js');
await import(process.argv[1]);
`;

/** @param installed  a folder whose `node_modules` contains coxswain and its dependencies */
export function buildExecutable(bun: string, installed: string, out: string): void {
  const work = mkdtempSync(join(tmpdir(), 'coxswain-executable-'));
  try {
    const names = globSync('node_modules/**/*', { cwd: installed })
      .filter(
        (name) =>
          statSync(join(installed, name)).isFile() && !/\/\.bin\/|\/docs\/|\/examples\/|\.(?:d\.ts|map)$/.test(name),
      )
      .toSorted();
    const files = Object.fromEntries(
      names.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(installed, name), 'base64')]),
    );
    const text = JSON.stringify(files);
    writeFileSync(join(work, 'package.gz'), gzipSync(text));
    writeFileSync(join(work, 'hash.txt'), createHash('sha256').update(text).digest('hex').slice(0, 16));
    writeFileSync(join(work, 'main.js'), MAIN);
    const { status, stderr } = spawnSync(
      bun,
      [
        'build',
        '--compile',
        '--compile-autoload-package-json',
        '--no-compile-autoload-dotenv',
        '--no-compile-autoload-bunfig',
        '--outfile',
        resolve(out),
        'main.js',
      ],
      {
        cwd: work,
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(`bun build: ${stderr}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [out = 'coxswain-executable'] = process.argv.slice(2);
  const installed = mkdtempSync(join(tmpdir(), 'coxswain-installed-'));
  installPackage(installed);
  buildExecutable(programOf(BUN), installed, out);
  rmSync(installed, { recursive: true, force: true });
  console.log(`${out}: ${Math.round(statSync(out).size / 1e6)} MB`);
}
