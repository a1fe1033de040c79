/**
 * Runs the tests in `integration/` against the real SDK packages: installs the packages if they are missing or older than their
 * lockfile, then checks types and lint. Passes its arguments to the test runner.
 */
import { spawnSync } from 'node:child_process';
import { globSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const INSTALLED = 'integration/node_modules';
const LINKS = 'examples/node_modules';

function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function run(program: string, args: readonly string[], cwd = '.'): void {
  const done = spawnSync(program, args, { stdio: 'inherit', cwd });
  if (done.status === 0) return;
  console.error(`${program} ${args.join(' ')}: ${done.error?.message ?? `exit ${done.status ?? done.signal}`}`);
  process.exit(done.status ?? 1);
}

/**
 * Links the packages that the examples import, those of `integration/` and this one, so the examples run without a separate
 * install. An install replaces the links.
 */
function linkForExamples(): void {
  // Our package.json.
  const { dependencies } = JSON.parse(readFileSync('examples/package.json', 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(dependencies)) {
    const link = join(LINKS, name);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(link), name === 'coxswain' ? '.' : join(INSTALLED, name)), link, 'junction');
  }
}

for (const folder of ['integration', 'integration/otel']) {
  if (changedMs(`${folder}/node_modules/.package-lock.json`) < changedMs(`${folder}/package-lock.json`)) {
    run('npm', ['ci', '--no-audit', '--no-fund'], folder);
  }
}
// The examples import the built package.
const sources = globSync('src/**/*.ts').map(changedMs);
if (changedMs('dist/index.js') < Math.max(...sources)) run('node', ['scripts/build.ts']);
linkForExamples();
run('tsc', ['-p', 'integration/tsconfig.json']);
run('oxlint', ['--type-aware', '--deny-warnings', 'integration', 'examples']);
run('vitest', ['run', '--config', 'integration/vitest.config.ts', '--reporter=dot', ...process.argv.slice(2)]);
