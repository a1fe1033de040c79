/**
 * `coxswain status` from start to end, relative to `node -e 0`, with a run of 10 and of 10,000 calls. Run:
 * `node bench/status.bench.ts [rounds] [bin.js]` after `node scripts/build.ts`.
 *
 * Commands alternate in every round; figures are medians of wall time, ratios those of medians.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createCoxswain } from '../src/run/coxswain.ts';
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts';

const ROUNDS = Number(process.argv[2] ?? 60);
const BIN = process.argv[3] ?? join(import.meta.dirname, '..', 'dist', 'cli', 'bin.js');
const WARM_UP = 3;

const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
// This process creates the store.
process.env['XDG_STATE_HOME'] = join(folder, 'state');
const env = { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: process.env['XDG_STATE_HOME'] };

async function record(calls: number): Promise<string> {
  const project = join(folder, String(calls));
  mkdirSync(join(project, '.git'), { recursive: true });
  const store = sqliteStore(join(project, '.coxswain', 'runs.db'));
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId: 'session', deadline: { minutes: 600 } });
  for (let index = 0; index < calls; index += 1) {
    const named = { toolCallId: `call-${index}`, toolName: 'Bash' };
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', ...named, args: { command: `npm test -- part-${index % 13}` } });
    const result = `expected ${index}, got 0\n`.repeat(40);
    run.emit({ type: 'tool_execution_end', ...named, result, isError: index % 4 === 0 });
    for (const piece of run.advise('post_tool_result')) piece.delivered('tool-result');
    if (index % 500 === 0) await cox.flush();
  }
  await cox.close();
  await store.close();
  return project;
}

const small = await record(10);
const large = await record(10_000);
const commands = [
  { name: 'node -e 0', args: ['-e', '0'], cwd: small, times: [] as number[] },
  { name: 'status, 10 calls', args: [BIN, 'status'], cwd: small, times: [] as number[] },
  { name: 'status, 10,000 calls', args: [BIN, 'status'], cwd: large, times: [] as number[] },
];
for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
  for (const { args, cwd, name, times } of commands) {
    const startMs = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, input: '{"session_id":"session"}' });
    if (round >= WARM_UP) times.push(performance.now() - startMs);
    if (status !== 0) throw new Error(`${name} ended with code ${status}: ${String(stderr)}`);
  }
}
const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
const bare = median(commands[0]?.times ?? []);
for (const { name, times } of commands) {
  console.log(`${name.padEnd(22)} ${median(times).toFixed(1).padStart(7)} ms  ${(median(times) / bare).toFixed(2)}x`);
}
rmSync(folder, { recursive: true });
