/**
 * Runs the suite several times at once, each in its own clone of the last commit, to find tests that depend on the load:
 * `npx node scripts/suite-under-load.ts [--runs 5] [--workers 4] [--minutes 180] [PATH…]`. Prints a line per suite, the failed tests, what
 * the suites left behind (processes, files in HOME) and the load; logs stay in a temporary folder. Exits with 1 on any of these but the load.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The load is an average over a minute, so samples of the first two say nothing. */
const LOAD_AFTER_MS = 120_000;
const SAMPLE_MS = 5_000;
const CACHES = ['.cache', '.vite', '.vite-temp', '.vitest'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    workers: { type: 'string', default: '4' },
    minutes: { type: 'string', default: '180' },
  },
});
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'coxswain-load-'));
/** In the environment of every process of a suite. */
const mark = `COXSWAIN_SUITE_UNDER_LOAD=${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
/** Sessions of the suites' processes, by the process that leads each. */
const sessions = new Set<string>();

interface Suite {
  readonly name: string;
  readonly home: string;
  readonly clone: string;
  readonly results: string;
}

interface Ended extends Suite {
  readonly code: number | null;
  readonly seconds: number;
}

/** The part of Vitest's JSON report that is read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Clones the last commit, with the packages of this checkout as hard links. */
function prepare(name: string): Suite {
  const [clone, home] = [join(folder, name), join(folder, `${name}-home`)];
  execFileSync('git', ['clone', '--quiet', root, clone]);
  execFileSync('cp', ['-al', join(root, 'node_modules'), join(clone, 'node_modules')]);
  for (const cache of CACHES) rmSync(join(clone, 'node_modules', cache), { recursive: true, force: true });
  mkdirSync(home);
  return { name, home, clone, results: join(folder, `${name}.json`) };
}

/** Builds, then runs the tests. */
function run(suite: Suite): Promise<Ended> {
  const startedMs = performance.now();
  const log = openSync(join(folder, `${suite.name}.log`), 'w');
  const [variable = '', value = ''] = mark.split('=');
  const env = {
    ...process.env,
    HOME: suite.home,
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_cache: join(homedir(), '.npm'),
    [variable]: value,
  };
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${suite.results}`];
  const args = ['vitest', 'run', `--maxWorkers=${values.workers}`, ...reporters, ...positionals];
  const program = ['-c', 'node scripts/build.ts && exec npx "$@"', 'sh', ...args];
  const child = spawn('sh', program, { cwd: suite.clone, env, stdio: ['ignore', log, log], detached: true });
  if (child.pid !== undefined) sessions.add(String(child.pid));
  return new Promise<Ended>((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code) =>
      done({ ...suite, code, seconds: Math.round((performance.now() - startedMs) / 1_000) }),
    );
  });
}

/** The processes of suites that still run, found by the mark in their environment, their session or their command; Linux only. */
function remaining(): readonly (readonly [pid: number, command: string])[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids
    .map((pid) => [Number(pid), read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')] as const)
    .filter(
      ([pid, command]) =>
        pid !== process.pid &&
        command !== '' &&
        (command.includes(folder) ||
          read(`/proc/${pid}/environ`).split('\0').includes(mark) ||
          sessions.has(
            read(`/proc/${pid}/stat`)
              .replace(/^.*\) /s, '')
              .split(' ')[3] ?? '',
          )),
    );
}

function endAll(): void {
  for (const [pid] of remaining()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended since.
    }
  }
}

/** Prints the result of a suite. Returns whether all is well. */
function report({ name, home, results, code, seconds }: Ended): boolean {
  const files = existsSync(results) ? (JSON.parse(readFileSync(results, 'utf8')) as Report).testResults : [];
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const count = (status: string): number => tests.filter((test) => test.status === status).length;
  const skipped = tests.length - count('passed') - count('failed');
  const counts = `${files.length} files, ${count('passed')} passed, ${count('failed')} failed, ${skipped} skipped`;
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name}: ${counts}, ${seconds} s, exit code ${code ?? 'none'}`);
  for (const file of files.filter(({ status }) => status !== 'passed')) {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    for (const test of failed.length > 0 ? failed : [file.message]) console.log(`     ${file.name}: ${test}`);
  }
  const written = readdirSync(home, { recursive: true, encoding: 'utf8' });
  for (const path of written) console.log(`     written to HOME: ${path}`);
  return code === 0 && written.length === 0;
}

// PostgreSQL runs as another user if the tests run as root.
chmodSync(folder, 0o755);
console.log(`logs: ${folder}`);
if (execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }) !== '') {
  console.log('note: the suites run the last commit, without the changes in this checkout');
}
const shared = resolve(root, '..', 'shared');
if (existsSync(shared)) symlinkSync(shared, join(folder, 'shared'));
const suites = Array.from({ length: Number(values.runs) }, (_, at) => prepare(`suite-${at + 1}`));
process.once('exit', () => {
  endAll();
  for (const { clone, home } of suites)
    for (const path of [clone, home]) rmSync(path, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const startedMs = performance.now();
const running = suites.map((suite) => run(suite));
let hasEnded = false;
const loads: number[] = [];
const sampling = setInterval(() => {
  if (!hasEnded && performance.now() - startedMs > LOAD_AFTER_MS) loads.push(loadavg()[0] ?? 0);
}, SAMPLE_MS);
const limit = setTimeout(
  () => {
    console.log(`ended after ${values.minutes} minutes`);
    endAll();
  },
  Number(values.minutes) * 60_000,
);
const ended = await Promise.all(running.map(async (suite) => suite.finally(() => (hasEnded = true))));
clearInterval(sampling);
clearTimeout(limit);

const left = remaining();
const isGood = ended.map((suite) => report(suite)).every(Boolean) && left.length === 0;
for (const [pid, command] of left) console.log(`still runs: ${pid} ${command.slice(0, 120)}`);
loads.sort((a, b) => a - b);
const median = loads[Math.floor(loads.length / 2)];
console.log(
  median === undefined
    ? 'load: not measured, a suite ended within two minutes'
    : `load while all suites ran: at least ${loads[0]?.toFixed(1)}, median ${median.toFixed(1)}`,
);
process.exitCode = isGood ? 0 : 1;
