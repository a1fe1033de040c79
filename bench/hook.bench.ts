/**
 * Claude Code's hook process from start to end, relative to `node -e 0`: state, fold, durable append and answer, in a run of 10 and of
 * 10,000 earlier calls. Run: `node bench/hook.bench.ts [rounds] [hook.cjs]` after `node scripts/build.ts`.
 *
 * Commands alternate in every round, so other load affects all of them equally. Figures are medians of wall time, ratios those of medians.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createCoxswain } from '../src/run/coxswain.ts';
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts';

const ROUNDS = Number(process.argv[2] ?? 60);
const HOOK = process.argv[3] ?? join(import.meta.dirname, '..', 'dist', 'hook.cjs');
const WARM_UP = 3;

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

interface Command {
  readonly name: string;
  readonly args: readonly string[];
  input(round: number): string;
  readonly times: number[];
}

/** A run after the given number of calls: files read and changed, checks that pass or fail. */
async function record(runId: string, calls: number): Promise<void> {
  const store = sqliteStore(join(project, '.coxswain', 'runs.db'));
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId, task: 'make the tests pass' });
  run.emit({ type: 'message_end', message: { role: 'user', content: 'make the tests pass' } });
  for (let index = 0; index < calls; index += 1) {
    const id = `seed-${index}`;
    const file = `src/module-${index % 97}/part-${index % 13}.ts`;
    run.emit({ type: 'turn_start' });
    const [toolName, args, result, isError] =
      [
        ['Read', { file_path: file }, `content of ${file}, version ${index}\n`.repeat(20), false] as const,
        [
          'Edit',
          { file_path: file, old_string: `a${index}`, new_string: `b${index}` },
          'The file was updated.',
          false,
        ] as const,
        [
          'Bash',
          { command: `npm test -- part-${index % 13}` },
          `FAIL ${file}\nexpected ${index}, got 0`,
          true,
        ] as const,
        ['Bash', { command: `git diff ${file} | head -${index % 40}` }, `+b${index}`, false] as const,
      ][index % 4] ?? (['Bash', {}, '', false] as const);
    run.emit({ type: 'tool_execution_start', toolCallId: id, toolName, args });
    run.emit({ type: 'tool_execution_end', toolCallId: id, toolName, result, isError });
    for (const advice of run.advise('post_tool_result')) advice.delivered('bench');
    for (const advice of run.advise('pre_tool_selection')) advice.delivered('bench');
    if (index % 200 === 0) await run.flush();
  }
  await cox.close();
}

const call = (runId: string, round: number): object => ({
  session_id: runId,
  cwd: project,
  tool_name: 'Bash',
  tool_input: { command: `npm test -- part-${round % 7}`, description: 'Run the tests' },
  tool_use_id: `toolu_${round}`,
});
const output = (round: number): string => `FAIL src/part-${round % 5}.test.ts\nexpected ${round}, got 0\n`.repeat(10);

const commands: Command[] = [{ name: 'node -e 0', args: ['-e', '0'], input: () => '', times: [] }];
for (const calls of [10, 10_000]) {
  const runId = `session-${calls}`;
  await record(runId, calls);
  const add = (event: string, more: (round: number) => object): void => {
    commands.push({
      name: `${event}, ${calls} calls before`,
      args: [HOOK],
      input: (round) => JSON.stringify({ ...call(runId, round), hook_event_name: event, ...more(round) }),
      times: [],
    });
  };
  add('PreToolUse', () => ({}));
  add('PostToolUse', (round) => ({ tool_response: { stdout: output(round), stderr: '' } }));
  add('PostToolBatch', (round) => ({ tool_calls: [{ ...call(runId, round), tool_response: output(round) }] }));
}

for (let round = -WARM_UP; round < ROUNDS; round += 1) {
  for (const command of commands) {
    const startMs = performance.now();
    const ended = spawnSync(process.execPath, command.args, { env, input: command.input(round + WARM_UP) });
    const tookMs = performance.now() - startMs;
    if (ended.status !== 0) throw new Error(`${command.name} ended with ${ended.status}: ${ended.stderr.toString()}`);
    if (round >= 0) command.times.push(tookMs);
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const bare = median(commands[0]?.times ?? []);
console.log(`medians of ${ROUNDS} rounds, in turns`);
for (const { name, times } of commands) {
  const own = median(times);
  const least = Math.min(...times);
  console.log(
    `${name.padEnd(36)} ${own.toFixed(1).padStart(6)} ms  least ${least.toFixed(1).padStart(6)}  ratio ${(own / bare).toFixed(2)}`,
  );
}
const db = sqliteStore(join(project, '.coxswain', 'runs.db'));
for (const calls of [10, 10_000]) {
  const chars = await db.transact(`session-${calls}`, (view) => ({
    records: [],
    result: JSON.stringify(view.snapshot).length,
  }));
  console.log(`state of the run with ${calls} calls before: ${chars} characters`);
}
await db.close();
rmSync(folder, { recursive: true, force: true });
