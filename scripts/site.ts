/**
 * Builds the documentation site into `site/.vitepress/dist` and checks its links: `npm run site`. Installs the dependencies of
 * `site/` if they are missing or older than its lockfile.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

function run(program: string, args: readonly string[], cwd = '.'): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', cwd });
  if (status !== 0) process.exit(status ?? 1);
}

const changedMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedMs('site/node_modules/.package-lock.json') < changedMs('site/package-lock.json'))
  run('npm', ['ci', '--no-audit', '--no-fund'], 'site');
run('tsc', ['-p', 'site/tsconfig.json']);
run('node', ['site/build.ts']);
