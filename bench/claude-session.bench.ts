/**
 * A whole session of the real Claude Code with 14 fast calls against a fake model server that answers after `MS` (default 0): without hooks, with a process for each
 * event, and with the resident server. The three take turns; figures are medians of wall time, ratios are to the session without hooks. Run:
 * `node bench/claude-session.bench.ts [rounds] [MS]` after `npm run test:hosts -- claude-code`, which installs the program and builds.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { HOST_DRIVERS } from '../integration/hosts/host-drivers.ts';
import { stopServer } from '../src/hosts/claude-code/server-process.ts';

const ROUNDS = Number(process.argv[2] ?? 7);
const ANSWER_MS = Number(process.argv[3] ?? 0);
const CALLS = 14;
const BIN = join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts');
const driver = HOST_DRIVERS['claude-code'];
const installed =
  process.env['COXSWAIN_HOSTS'] ?? join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'coxswain-hosts');
const program = join(installed, `claude-code-${driver.version}`, 'node_modules', '.bin', driver.program);

const FORMS: Readonly<Record<string, readonly string[] | undefined>> = {
  'no hooks': undefined,
  'a process for each event': [],
  'the resident server': ['--http'],
};

const turns = [
  ...Array.from({ length: CALLS }, (_, index) => ({ calls: [driver.shell(`echo ${index}`)] })),
  { text: 'Done.' },
];
const model = await driver.startServer({
  script: { turns: Array.from({ length: (ROUNDS + 1) * Object.keys(FORMS).length }, () => turns).flat() },
  answerAfterMs: ANSWER_MS,
});
const root = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
const places = Object.entries(FORMS).map(([form, options]) => {
  const home = join(root, form.replaceAll(' ', '-'));
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const place = { home, project, url: model.url };
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const env = { HOME: home, PATH, XDG_STATE_HOME: join(home, 'state'), ...driver.env(place) };
  if (options !== undefined) {
    const init = spawnSync(process.execPath, [BIN, 'init', 'claude-code', '--yes', ...options], { cwd: project, env });
    if (init.status !== 0) throw new Error(init.stderr.toString());
  }
  return { form, project, env, args: driver.args('Investigate', place), times: [] as number[] };
});

for (let round = -1; round < ROUNDS; round += 1) {
  for (const { args, env, form, project, times } of places) {
    const startMs = performance.now();
    const code = await new Promise((resolve) => {
      spawn(program, args, { cwd: project, env, stdio: 'ignore' }).on('close', resolve);
    });
    if (code !== 0) throw new Error(`${form}: Claude Code ended with ${String(code)}`);
    if (round >= 0) times.push(performance.now() - startMs);
  }
}
for (const { env, project } of places) await stopServer(project, { env });
await model.close();

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const bare = median(places[0]?.times ?? []);
console.log(`sessions of ${CALLS} calls, answers after ${ANSWER_MS} ms, medians of ${ROUNDS} rounds, in turns`);
for (const { form, times } of places) {
  const own = median(times);
  const [least, most] = [Math.min(...times), Math.max(...times)];
  console.log(
    `${form.padEnd(26)} ${own.toFixed(0).padStart(6)} ms  (${least.toFixed(0)} to ${most.toFixed(0)})  ratio ${(own / bare).toFixed(2)}`,
  );
}
rmSync(root, { recursive: true, force: true });
