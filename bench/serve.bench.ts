/**
 * Claude Code's http hook, answered by the resident server, relative to the hook process and to `node -e 0`: state, fold, durable append
 * and answer, in a run of 10 and of 10,000 earlier calls. The server is a separate process, and each event uses a new connection.
 * Run: `node bench/serve.bench.ts [rounds] [hook.cjs]` after `node scripts/build.ts`.
 *
 * All sides alternate in every round; figures are medians of wall time, ratios those of medians.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readServeSettings, writeServeSettings } from '../src/hosts/claude-code/serve-settings.ts';
import { serverHealth } from '../src/hosts/claude-code/server-health.ts';
import { createCoxswain } from '../src/run/coxswain.ts';
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts';

const ROUNDS = Number(process.argv[2] ?? 60);
const HOOK = process.argv[3] ?? join(import.meta.dirname, '..', 'dist', 'hook.cjs');
const BIN = join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts');
const WARM_UP = 5;

const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
const project = join(folder, 'project');
mkdirSync(join(project, '.git'), { recursive: true });
// This process creates the store that the hooks continue.
process.env['XDG_STATE_HOME'] = join(folder, 'state');
const env = {
  PATH: process.env['PATH'],
  HOME: folder,
  XDG_STATE_HOME: process.env['XDG_STATE_HOME'],
  CLAUDE_PROJECT_DIR: project,
};

/** A run after the given number of calls. */
async function record(runId: string, calls: number): Promise<void> {
  const cox = createCoxswain({ store: sqliteStore(join(project, '.coxswain', 'runs.db')) });
  const run = cox.startRun({ runId, task: 'make the tests pass' });
  for (let index = 0; index < calls; index += 1) {
    const file = `src/module-${index % 97}/part-${index % 13}.ts`;
    const isTest = index % 3 === 0;
    run.emit({ type: 'turn_start' });
    const toolName = isTest ? 'Bash' : 'Read';
    const args = isTest ? { command: `npm test -- part-${index % 13}` } : { file_path: file };
    const result = isTest
      ? `FAIL ${file}\nexpected ${index}, got 0`
      : `content of ${file}, version ${index}\n`.repeat(20);
    run.emit({ type: 'tool_execution_start', toolCallId: `seed-${index}`, toolName, args });
    run.emit({ type: 'tool_execution_end', toolCallId: `seed-${index}`, toolName, result, isError: isTest });
    for (const advice of run.advise('post_tool_result')) advice.delivered('bench');
    if (index % 200 === 0) await run.flush();
  }
  await cox.close();
}

const output = (round: number): string => `FAIL src/part-${round % 5}.test.ts\nexpected ${round}, got 0\n`.repeat(10);

function event(name: string, runId: string, round: number): string {
  const call = {
    tool_name: 'Bash',
    tool_input: { command: `npm test -- part-${round % 7}`, description: 'Run the tests' },
    tool_use_id: `toolu_${round}`,
  };
  const more =
    name === 'PostToolUse'
      ? { ...call, tool_response: { stdout: output(round), stderr: '' } }
      : name === 'PostToolBatch'
        ? { tool_calls: [{ ...call, tool_response: output(round) }] }
        : call;
  return JSON.stringify({ session_id: runId, cwd: project, hook_event_name: name, ...more });
}

function post(port: number, token: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: '/coxswain-hook',
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error('no 200'))));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

for (const calls of [10, 10_000]) await record(`session-${calls}`, calls);
const port = 20_000 + Math.floor(Math.random() * 10_000);
writeServeSettings(project, { port, token: 'a token of the benchmark, long enough', program: [process.execPath, BIN] });
const settings = readServeSettings(project);
if (settings === undefined) throw new Error('the settings of the server are not there');
const server = spawn(process.execPath, [BIN, 'serve', 'run', '--project', project], { env, stdio: 'ignore' });
while ((await serverHealth(settings)).kind !== 'ours') await sleep(50);

const times = new Map<string, number[]>();
async function timed(name: string, isCounted: boolean, work: () => Promise<void> | void): Promise<void> {
  const startMs = performance.now();
  await work();
  const tookMs = performance.now() - startMs;
  if (isCounted) times.set(name, [...(times.get(name) ?? []), tookMs]);
}
for (let round = -WARM_UP; round < ROUNDS; round += 1) {
  const at = round + WARM_UP;
  await timed('node -e 0', round >= 0, () => void spawnSync(process.execPath, ['-e', '0'], { env }));
  for (const calls of [10, 10_000]) {
    for (const name of ['PreToolUse', 'PostToolUse', 'PostToolBatch']) {
      const what = `${name}, ${calls} calls before`;
      const runId = `session-${calls}`;
      // Separate runs, so neither side folds records of the other.
      await timed(`process: ${what}`, round >= 0, () => {
        const input = event(name, `${runId}-of-processes`, at);
        const ended = spawnSync(process.execPath, [HOOK], { env, input });
        if (ended.status !== 0) throw new Error(`${what} ended with ${ended.status}`);
      });
      await timed(`http: ${what}`, round >= 0, () => post(port, settings.token, event(name, runId, at)));
    }
  }
}

const median = (values: readonly number[] = []): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const bare = median(times.get('node -e 0'));
console.log(`medians of ${ROUNDS} rounds, in turns`);
for (const [name, values] of times) {
  const own = median(values);
  const hook = median(times.get(name.replace('http: ', 'process: ')));
  const toHook = name.startsWith('http') ? `  to the hook process ${(own / hook).toFixed(3)}` : '';
  console.log(`${name.padEnd(46)} ${own.toFixed(2).padStart(7)} ms  to node -e 0 ${(own / bare).toFixed(3)}${toHook}`);
}
const health = await serverHealth(settings);
if (health.kind === 'ours') console.log(`events ${health.facts.events}, faults ${health.facts.faults}`);
const ended = new Promise((resolve) => server.on('close', resolve));
server.kill('SIGTERM');
await ended;
rmSync(folder, { recursive: true, force: true });
