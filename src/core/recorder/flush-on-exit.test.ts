import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { endWithTest } from '../../../test/support/end-with-test.ts';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { testFolder } from '../../../test/support/test-folder.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

interface ProcessResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly storedCount: number;
}

/** Longer than a test may take. */
const NEVER_MS = 600_000;

const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/**
 * Runs a program with a queue whose store takes its time and into which 100 records were put; sends signals when it has
 * printed `ready`.
 */
async function run(program: string, signals: readonly NodeJS.Signals[] = [], delayMs = 150): Promise<ProcessResult> {
  const file = join(folder, 'runs.db');
  const code = `
    import { RecordQueue } from ${source('record-queue.ts')};
    import { flushOnExit } from ${source('flush-on-exit.ts')};
    import { sqliteStore } from ${source('../../stores/sqlite/sqlite-store.ts')};
    import { scriptCalls } from ${source('../../../test/support/script-records.ts')};
    const store = sqliteStore(${JSON.stringify(file)});
    const slow = { ...store, close: () => store.close(), flush: () => store.flush(), append: async (batch) => {
      await new Promise((resolve) => setTimeout(resolve, ${delayMs}).unref());
      return store.append(batch);
    } };
    const queue = new RecordQueue(slow);
    for (const record of scriptCalls('a', 100)) queue.add(record);
    const stays = () => setInterval(() => undefined, 1_000);
    const ready = () => setImmediate(() => process.stdout.write('ready\\n'));
    ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithTest(child);
  let out = '';
  const remainingSignals = [...signals];
  let repeatTimer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (text.includes('ready')) {
      const [first, second] = remainingSignals.splice(0);
      if (first !== undefined) child.kill(first);
      // The system may take two that come close together for one.
      if (second !== undefined) repeatTimer = setInterval(() => child.kill(second), 50);
    }
  });
  const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on('close', (...result) => resolve(result));
  });
  clearInterval(repeatTimer);
  const reopened = sqliteStore(file);
  const storedCount = (await readAll(reopened, 'a')).length;
  await reopened.close();
  return { code: exitCode, signal, out: out.replace('ready\n', ''), storedCount };
}

test('a signal loses the waiting records if nothing flushes', async () => {
  expect(await run('stays(); ready();', ['SIGTERM'], NEVER_MS)).toEqual({
    code: null,
    signal: 'SIGTERM',
    out: '',
    storedCount: 0,
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the process as usual, after the waiting records are stored',
  async (signal) => {
    const result = await run('flushOnExit(queue, {}); stays(); ready();', [signal]);
    expect(result).toEqual({ code: null, signal, out: '', storedCount: 100 });
  },
);

test('two queues are both stored, and the process ends', async () => {
  const program = `
    const second = new RecordQueue(slow);
    for (const record of scriptCalls('b', 5)) second.add(record);
    flushOnExit(queue, {}); flushOnExit(second, {}); stays(); ready();`;
  expect(await run(program, ['SIGTERM'])).toMatchObject({ signal: 'SIGTERM', storedCount: 100 });
  const reopened = sqliteStore(join(folder, 'runs.db'));
  expect(await readAll(reopened, 'b')).toHaveLength(5);
  await reopened.close();
});

test('a listener of the host is called once, makes the decision, and its exit code counts', async () => {
  const program = `
    flushOnExit(queue, {}); stays();
    process.on('SIGTERM', () => {
      console.log('host');
      setInterval(() => { if (queue.health().queued === 0) process.exit(7); }, 20);
    });
    ready();`;
  expect(await run(program, ['SIGTERM'])).toEqual({ code: 7, signal: null, out: 'host\n', storedCount: 100 });
});

test('a listener that defers to other listeners still ends the process', async () => {
  // As the package signal-exit.
  const program = `
    const emitter = globalThis[Symbol.for('signal-exit emitter')] = { count: 1 };
    const polite = () => {
      if (process.listeners('SIGTERM').length !== emitter.count) return;
      process.off('SIGTERM', polite);
      console.log('polite');
      process.kill(process.pid, 'SIGTERM');
    };
    process.on('SIGTERM', polite);
    flushOnExit(queue, {}); stays(); ready();`;
  expect(await run(program, ['SIGTERM'])).toEqual({ code: null, signal: 'SIGTERM', out: 'polite\n', storedCount: 100 });
});

test('a store that does not respond delays the exit up to the limit, and a second signal ends the wait', async () => {
  const result = await run('flushOnExit(queue, { timeLimitMs: 300 }); stays(); ready();', ['SIGTERM'], NEVER_MS);
  expect(result).toMatchObject({ signal: 'SIGTERM', storedCount: 0 });
  const secondSignalResult = await run(
    `flushOnExit(queue, { timeLimitMs: ${NEVER_MS} }); stays(); ready();`,
    ['SIGINT', 'SIGINT'],
    NEVER_MS,
  );
  expect(secondSignalResult).toMatchObject({ signal: 'SIGINT', storedCount: 0 });
});

test('a process without further work stores the waiting records and keeps its exit code', async () => {
  expect(await run('process.exitCode = 3;')).toMatchObject({ code: 3, storedCount: 0 });
  expect(await run('flushOnExit(queue, {}); process.exitCode = 3;')).toEqual({
    code: 3,
    signal: null,
    out: '',
    storedCount: 100,
  });
  const result = await run('flushOnExit(queue, { timeLimitMs: 100 });', [], 60_000);
  expect(result).toMatchObject({ code: 0 });
});

test('a queue that was removed is not flushed', async () => {
  const result = await run('flushOnExit(queue, {})(); stays(); ready();', ['SIGTERM']);
  expect(result).toMatchObject({ signal: 'SIGTERM', storedCount: 0 });
});
