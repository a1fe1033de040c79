import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { diagnosticSignal } from '../src/core/steering/guidance/built-in-guidance.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { filesIn, sayEverywhere, survivorsIn } from './support/canary.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { fakeSecrets } from './support/fake-secrets.ts';
import { noPostgres, startPostgres } from './support/postgres-server.ts';
import { runScript } from './support/run-script.ts';
import { tempFolder } from './support/temp-folder.ts';
import { runCli } from './run-cli.ts';

/** A run in which every kind of secret was said wherever a host can say anything, closed store included. */
async function recordCanary(store: TrajectoryStore): Promise<void> {
  const steering = { ...standardSteering(), guidance: [{ provider: diagnosticSignal() }] };
  const cox = createCoxswain({ ...steering, store, clock: createFakeClock() });
  const run = cox.startRun({
    runId: 'canary',
    task: fakeSecrets()
      .map(({ text }) => text)
      .join('\n'),
  });
  for (const [index, { text }] of fakeSecrets().entries()) {
    sayEverywhere(run, text, index);
    run.reportFault('the canary', new Error(text));
    run.emit({ type: 'run_resumed', trigger: text });
    run.emit({ type: 'completion_checked', met: false, missing: [text], attempt: 1 });
    run.emit({ type: 'tool_gate_applied', iteration: 1, plugin: text, allow: [text] });
  }
  await run.end();
  expect(survivorsIn(JSON.stringify([cox.health(), run.snapshot()]))).toEqual([]);
  await cox.close();
}

test('no planted secret is in what the commands that read a store print or write', async () => {
  const temp = await tempFolder();
  try {
    const cwd = temp.path;
    await recordCanary(sqliteStore(join(cwd, 'runs.db')));
    const at = ['--store', 'runs.db'];
    const commands = [
      ['export', ...at, '--to', 'out.ndjson'],
      ['export', ...at, '--to-store', 'copy.db'],
      ['runs', ...at, '--json'],
      ['show', 'canary', ...at],
      ['show', 'canary', ...at, '--json'],
      ['search', 'see', ...at, '--json', '--limit', '1000'],
      ['verify', 'runs.db', '--json'],
      ['analyze', 'out.ndjson', '--json'],
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await runCli(command, { cwd });
      expect([command[0], code, survivorsIn(stdout + stderr)]).toEqual([command[0], 0, []]);
    }
    expect(survivorsIn(filesIn(cwd))).toEqual([]);
  } finally {
    await temp.dispose();
  }
});

test('no planted secret of a file that is imported reaches the store, or what the command says', async () => {
  const temp = await tempFolder();
  try {
    const cwd = temp.path;
    const messages = fakeSecrets().flatMap(({ text }, index) => [
      { role: 'user', content: text },
      {
        role: 'assistant',
        content: text,
        tool_calls: [
          {
            id: `c${index}`,
            type: 'function',
            function: { name: 'bash', arguments: JSON.stringify({ command: text }) },
          },
        ],
      },
      { role: 'tool', tool_call_id: `c${index}`, content: text },
    ]);
    await writeFile(join(cwd, 'chat.json'), JSON.stringify(messages));
    const { code, stdout, stderr } = await runCli(['analyze', 'chat.json', '--summary', '--store', 'runs.db'], { cwd });
    expect([code, survivorsIn(stdout + stderr)]).toEqual([0, []]);
    const { stdout: exported } = await runCli(['export', '--store', 'runs.db'], { cwd });
    expect(exported).toContain('[REDACTED:');
    expect(survivorsIn(exported)).toEqual([]);
  } finally {
    await temp.dispose();
  }
});

test('no planted secret of a hook’s input, or of what goes wrong in it, reaches its store or its log', async () => {
  const temp = await tempFolder();
  try {
    const secrets = fakeSecrets().map(({ text }) => text);
    const tool = { tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: secrets.join('\n') } };
    const session = { session_id: 'canary', cwd: temp.path, transcript_path: join(temp.path, 'none.jsonl') };
    const output = { stdout: secrets.join('\n'), stderr: '' };
    const events = [
      { ...session, hook_event_name: 'SessionStart', source: 'startup' },
      { ...session, hook_event_name: 'UserPromptSubmit', prompt: secrets.join('\n') },
      { ...session, ...tool, hook_event_name: 'PreToolUse' },
      { ...session, ...tool, hook_event_name: 'PostToolUse', tool_response: output },
    ];
    const script = `
      import { runHook } from ${JSON.stringify(new URL('../src/hosts/claude-code/hook-main.ts', import.meta.url).href)};
      const [, home, given] = process.argv;
      Object.assign(process.env, { HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, CLAUDE_PROJECT_DIR: home });
      const { events, secrets } = JSON.parse(given);
      for (const event of events) {
        const bytes = Buffer.from(JSON.stringify(event));
        await runHook(Promise.resolve(bytes), () => process.exit(0));
      }
      for (const text of secrets) await runHook(Promise.reject(new Error(text)), () => process.exit(0));`;
    const { stdout, stderr } = await runScript(script, [temp.path, JSON.stringify({ events, secrets })]).ended;
    expect(survivorsIn(stdout + stderr)).toEqual([]);
    const files = filesIn(temp.path);
    expect(files.split('\n').filter((line) => line.includes('"where":"hook"'))).toHaveLength(secrets.length);
    expect(files).toContain('"kind":"tool_ended"');
    expect(survivorsIn(files)).toEqual([]);
  } finally {
    await temp.dispose();
  }
});

test.skipIf(noPostgres !== undefined)(
  `no planted secret reaches a PostgreSQL database${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  async () => {
    const server = await startPostgres({ fsync: 'off' });
    try {
      const pool = new Pool({ connectionString: server.url });
      await recordCanary(postgresStore(pool, { schema: 'canary' }));
      try {
        const { rows: tables } = await pool.query<{ table_name: string }>(
          "SELECT table_name FROM information_schema.tables WHERE table_schema = 'canary'",
        );
        let rowsSeen = 0;
        for (const { table_name } of tables) {
          const { rows } = await pool.query(`SELECT t::text AS text FROM canary."${table_name}" t`);
          rowsSeen += rows.length;
          expect([table_name, survivorsIn(JSON.stringify(rows))]).toEqual([table_name, []]);
        }
        expect(rowsSeen).toBeGreaterThan(fakeSecrets().length * 8);
      } finally {
        await pool.end();
      }
    } finally {
      await server.dispose();
    }
  },
);
