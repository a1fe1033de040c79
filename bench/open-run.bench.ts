/**
 * How long opening a stored run of 100, 10,000 and 50,000 calls holds the event loop, with the state that a flush saved, and without
 * it, as after a process that was killed. The ratio compares the longest turn with folding all its records in one turn.
 *
 * `npx node bench/open-run.bench.ts [CALLS…]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { readAll } from '../test/support/script-records.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 10_000, 50_000];
const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
const TOOLS = ['read', 'bash', 'edit'];

async function write(file: string, calls: number, isFlushed: boolean): Promise<void> {
  const cox = createCoxswain({ store: sqliteStore(file, { fsync: 'none' }) });
  const run = cox.startRun({ runId: 'run', task: 'measure' });
  for (let at = 0; at < calls; at += 1) {
    const toolName = TOOLS[at % TOOLS.length] ?? 'read';
    const args = { path: `src/file-${at % 977}.ts`, command: `npm run step ${at}` };
    run.emit({ type: 'tool_execution_start', toolCallId: `c${at}`, toolName, args });
    const result = `result ${at} `.repeat(20);
    run.emit({ type: 'tool_execution_end', toolCallId: `c${at}`, toolName, result, isError: at % 13 === 0 });
    if (at % 300 === 0) await cox.flush();
  }
  await (isFlushed ? run.flush() : cox.flush());
  await cox.close();
}

/** @returns milliseconds of opening, and of the longest turn of the event loop meanwhile */
async function open(file: string): Promise<{ readonly totalMs: number; readonly turnMs: number }> {
  const cox = createCoxswain({ store: sqliteStore(file) });
  let lastMs = performance.now();
  let turnMs = 0;
  const tick = (): void => {
    turnMs = Math.max(turnMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  const timer = setInterval(tick, 1);
  const fromMs = performance.now();
  await cox.openRun('run');
  tick();
  clearInterval(timer);
  const totalMs = performance.now() - fromMs;
  await cox.close();
  return { totalMs, turnMs };
}

for (const calls of sizes) {
  const [warm, cold] = [join(folder, `warm-${calls}.db`), join(folder, `cold-${calls}.db`)];
  await write(warm, calls, true);
  await write(cold, calls, false);
  const store = sqliteStore(cold);
  const records = await readAll(store, 'run');
  await store.close();
  const replay = new Replay({ steering: {} });
  const fromMs = performance.now();
  for (const record of records) replay.take(record);
  const foldMs = performance.now() - fromMs;
  for (const [name, file] of [
    ['saved state', warm],
    ['no state', cold],
  ] as const) {
    const { totalMs, turnMs } = await open(file);
    const ratio = (turnMs / foldMs).toFixed(3);
    console.log(
      `${calls} calls, ${name}: ${totalMs.toFixed(0)} ms, longest turn ${turnMs.toFixed(0)} ms, ${ratio} of one fold`,
    );
  }
}
rmSync(folder, { recursive: true });
