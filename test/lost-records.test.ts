import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';

import { smallDisk } from './support/small-disk.ts';
import { endWithTest } from './support/end-with-test.ts';
import { testFolder } from './support/test-folder.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { runCli } from './run-cli.ts';
import { builtModule } from './support/built-module.ts';

const folder = testFolder();
const disk = smallDisk(folder);

let project: string;
let home: string;
let plays = 0;

function at(place: string): void {
  plays += 1;
  project = join(place, `project-${plays}`);
  home = join(place, `home-${plays}`);
  for (const path of [join(project, '.git'), home]) mkdirSync(path, { recursive: true });
}

beforeEach(() => at(folder));
afterAll(async () => {
  disk?.unmount();
});

const environment = (): Readonly<Record<string, string>> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  HOME: home,
  XDG_STATE_HOME: '',
  XDG_CONFIG_HOME: '',
  XDG_CACHE_HOME: '',
  COXSWAIN_STORE: join(project, 'runs.db'),
});

/** Runs a program that records run `r1` with `cox`. `step` prints a word and waits for `say`. */
function record(program: string): {
  readonly say: (text: string) => void;
  readonly printed: (text: string) => Promise<void>;
  readonly ended: Promise<unknown>;
} {
  const code = `
    import { DatabaseSync } from 'node:sqlite';
    import { createCoxswain } from ${JSON.stringify(builtModule('index'))};
    import { sqliteStore } from ${JSON.stringify(builtModule('stores/sqlite/sqlite-store'))};
    const path = ${JSON.stringify(join(project, 'runs.db'))};
    const step = async (word) => {
      console.log(word);
      await new Promise((resolve) => process.stdin.once('data', resolve));
      process.stdin.pause();
    };
    const call = (run, id, size = 10) => run.emit({ type: 'tool_execution_start', toolCallId: id, toolName: 'Bash', args: { command: 'x'.repeat(size) } });
    ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: project,
    env: environment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endWithTest(child);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  return {
    say: (text) => void child.stdin.write(`${text}\n`),
    printed: async (text) => {
      while (!out.includes(text)) await once(child.stdout, 'data');
    },
    ended: once(child, 'exit'),
  };
}

async function cli(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCli(args, { cwd: project, env: environment() });
  return `${stdout}${stderr}`;
}

const ENDS = {
  'by process.exit': 'process.exit(0);',
  'by an error': "throw 'the end';",
  'after close': 'await cox.close({ timeLimitMs: 10 }); process.exit(0);',
};

for (const [name, end] of Object.entries(ENDS))
  test(`records that a locked store had not taken when the process ended ${name} are named by every command`, async () => {
    const program = record(`
        process.on('uncaughtException', () => process.exit(1));
        const cox = createCoxswain({ store: sqliteStore(path, { timeoutMs: 1 }) });
        const run = cox.startRun({ runId: 'r1', task: 'One' });
        await cox.flush();
        const other = new DatabaseSync(path);
        other.exec('BEGIN EXCLUSIVE');
        for (let id = 0; id < 7; id += 1) call(run, String(id));
        await cox.flush({ timeLimitMs: 100 });
        ${end}`);
    await program.ended;
    expect(await cli('doctor')).toMatch(/7 records lost from seq 1, because the process ended.*locked/);
    expect(await cli('show', 'r1')).toContain('incomplete: 7 records lost');
    expect(await cli('runs')).toMatch(/0 calls, 0 errors, 7 records lost/);
    expect(await cli('report', 'runs.db')).toContain('7 records lost');
    const other = sqliteStore(join(project, 'other.db'));
    await other.close();
    for (const command of ['report', 'failures']) expect(await cli(command, 'other.db')).not.toContain('lost');
    expect(await cli('verify')).toContain('nothing is wrong; 7 records lost in 1 run');
  });

test('a gap that the store has is named with its size by every command', async () => {
  const program = record(`
    const cox = createCoxswain({ store: sqliteStore(path), maxQueued: 3 });
    const run = cox.startRun({ runId: 'r1', task: 'One' });
    for (let id = 0; id < 9; id += 1) call(run, String(id));
    await cox.close();`);
  await program.ended;
  expect(await cli('doctor')).toMatch(/7 records lost: the queue was full/);
  expect(await cli('show', 'r1')).toContain('7 records lost');
  expect(await cli('runs')).toContain('7 records lost');
  expect(await cli('report', 'runs.db', '--all')).toMatch(/; 7 records lost;.*\n(?:.|\n)*0 errors, 7 records lost/);
  expect(await cli('verify')).toContain('7 records lost in 1 run');
});

test.skipIf(disk === undefined)(
  'a full disk that also holds the log leaves the loss in the names of empty files, which the next fault moves to the log',
  async () => {
    at(disk?.path ?? '');
    const program = record(`
      const cox = createCoxswain({ store: sqliteStore(path) });
      const run = cox.startRun({ runId: 'r1', task: 'One' });
      await cox.flush();
      await step('full?');
      for (let id = 0; id < 5; id += 1) call(run, String(id), 50_000);
      await cox.flush({ timeLimitMs: 100 });
      process.exit(0);`);
    await program.printed('full?');
    disk?.fill();
    program.say('go');
    await program.ended;
    expect(await cli('doctor')).toMatch(/5 records lost from seq 1, because the process ended/);
    disk?.makeRoom();
    expect(await cli('show', 'r1')).toContain('incomplete: 5 records lost');
    const second = record(`
      const cox = createCoxswain({ store: sqliteStore(path), maxQueued: 1 });
      const run = cox.startRun({ runId: 'r2', task: 'Two' });
      call(run, '1');
      await cox.close();`);
    await second.ended;
    expect(await cli('doctor')).toMatch(/2 problems .*1 record lost: the queue was full.*5 records lost from seq 1/);
    expect(await cli('verify')).toContain('6 records lost in 2 runs');
  },
);
