import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseRecord } from '../src/core/records/decode-record.ts';
import { openStore } from '../src/stores/registry/open-store.ts';
import { startViewer } from '../src/viewer/server/start-viewer.ts';
import { recordLine } from './damage-record.ts';
import { jsonLines, runCli, sampleRun, type CliControl, type CliResult } from './run-cli.ts';
import { noPostgres, runSql, startPostgres, type PostgresServer } from './support/postgres-server.ts';
import { tempFolder } from './support/temp-folder.ts';
import { openPage } from './viewer-client.ts';

const SAMPLE = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));
// Random, because a test searches the process list, which contains the commands of other suites on this machine.
const PASSWORD = `walrus-${randomUUID()}`;

/** The commands in the table of docs/commands.md, without their arguments. */
function commandsInReadme(): readonly string[] {
  const readme = readFileSync(new URL('../docs/commands.md', import.meta.url), 'utf8');
  const cells = [...readme.matchAll(/^\| (`coxswain [^|]*(?:\\\|[^|]*)*)\|/gm)].map(([, cell = '']) => cell);
  const names = [...cells.join(' ').matchAll(/`(?:coxswain )?([a-z]+(?: (?:check|show|run))?)\b/g)];
  return [...new Set(names.map(([, name = '']) => name))];
}

describe.skipIf(noPostgres !== undefined)(
  `every command on a real PostgreSQL${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    let server: PostgresServer;
    let folder: Awaited<ReturnType<typeof tempFolder>>;
    let cwd: string;
    let env: Readonly<Record<string, string>>;
    const testedCommands = new Set<string>();
    let printed = '';

    beforeAll(async () => {
      server = await startPostgres({ fsync: 'off' });
      folder = await tempFolder();
      cwd = join(folder.path, 'project');
      await mkdir(join(cwd, '.claude'), { recursive: true });
      spawnSync('git', ['init', '-q'], { cwd });
      env = {
        HOME: folder.path,
        XDG_CONFIG_HOME: join(folder.path, 'config'),
        XDG_STATE_HOME: process.env['XDG_STATE_HOME'] ?? '',
        CLAUDE_CONFIG_DIR: join(folder.path, '.claude'),
        CLAUDE_PROJECT_DIR: '',
      };
      // The user's own configuration needs no trust.
      await mkdir(join(folder.path, 'config', 'coxswain'), { recursive: true });
      const config = JSON.stringify({ store: { address: address('hooks') } });
      await writeFile(join(folder.path, 'config', 'coxswain', 'config.json'), config);
      await writeFile(join(cwd, 'a.json'), sampleRun('alpha', 'stuck'));
      await writeFile(join(cwd, 'b.json'), sampleRun('beta', 'fine', 40));
    });

    afterAll(async () => {
      await server.dispose();
      await folder.dispose();
    });

    const address = (schema: string): string =>
      `${server.url.replace('postgres@', `postgres:${PASSWORD}@`)}?schema=${schema}`;

    async function cox(args: readonly string[], more: Parameters<typeof runCli>[1] | object = {}): Promise<CliResult> {
      testedCommands.add(args[0] ?? '').add(args.slice(0, 2).join(' '));
      const result = await runCli(args, { cwd, env, ...more });
      printed += result.stdout + result.stderr;
      return result;
    }

    async function done(...args: readonly string[]): Promise<string> {
      const { code, stderr, stdout } = await cox(args);
      expect([args, code, stderr]).toEqual([args, 0, '']);
      return stdout;
    }

    test('demo and analyze record, and what reads finds it', async () => {
      const store = address('one');
      expect(await done('demo', '--fast', '--store', store)).toContain('postgres:***@');
      await done('analyze', 'a.json', 'b.json', '--summary', '--store', store);
      const runs = jsonLines(await done('runs', '--store', store, '--json')).map((run) => run['runId']);
      expect(new Set(runs)).toEqual(new Set(['alpha', 'beta', 'demo-stuck-run']));
      expect(await done('show', 'alp', '--store', store)).toContain('make all');
      expect(await done('show', 'alp', '--call', '8', '--store', store)).toContain('call 8 of 8');
      const hits = jsonLines(await done('search', 'rule', 'target', '--store', store, '--json'));
      expect(new Set(hits.map((hit) => hit['runId']))).toContain('alpha');
      expect(await done('verify', store)).toContain('3 runs');
      expect(await done('report', store, '--since', 'all', '--all')).toContain('alpha');
      expect(await done('failures', store)).toContain('other failed calls');
      expect(await done('watch', SAMPLE, '--from-start', '--until-end')).toContain('watched 1 run');
      expect(existsSync(join(cwd, 'postgres:'))).toBe(false);
    });

    test('records move to and from files and stores of any kind', async () => {
      const store = address('one');
      const before = await done('export', '--store', store);
      await done('export', '--store', store, '--to', 'all.ndjson');
      await done('import', 'all.ndjson', '--store', address('two'));
      await done('export', '--store', address('two'), '--to-store', 'copy.db');
      await done('export', '--store', 'copy.db', '--to-store', address('three'));
      const inOrder = (text: string): readonly string[] => text.split('\n').toSorted();
      expect(inOrder(await done('export', '--store', address('three')))).toEqual(inOrder(before));
      expect((await cox(['export', '--store', store, '--to-store', store])).code).toBe(2);
    });

    test('COXSWAIN_STORE stands in for an address that is not given', async () => {
      const more = { env: { ...env, COXSWAIN_STORE: address('one') } };
      expect((await cox(['runs'], more)).stdout).toContain('alpha');
      expect((await cox(['verify'], more)).stdout).toContain('nothing is wrong');
      expect((await cox(['effect'], more)).code).toBe(0);
    });

    test('backtest and effect read it, in workers too', async () => {
      const store = address('one');
      const report = await done('backtest', store, '--workers', '2', '--json');
      expect(JSON.parse(report)).toMatchObject({ paths: [expect.stringContaining('postgres:***@')] });
      expect(await done('backtest', store, '--verify')).toContain('alpha');
      await done('effect', store);
    });

    test('a hook, doctor, status and the report of a project use the store of the configuration', async () => {
      await done('config', 'check');
      expect(await done('config', 'show')).toContain('postgres:***@');
      expect((await cox(['trust'])).stderr).not.toContain('coxswain: internal');
      await done('init', 'claude-code', '--yes');
      const event = (name: string, more: object): string =>
        JSON.stringify({ session_id: 's1', cwd, hook_event_name: name, ...more });
      const call = { tool_name: 'Bash', tool_input: { command: 'make all' }, tool_use_id: 'c1' };
      for (const stdin of [event('UserPromptSubmit', { prompt: 'Do it' }), event('PreToolUse', call)]) {
        expect((await cox(['hook'], { stdin })).code).toBe(0);
      }
      // On a busy machine an event may wait in a file beside the store, which folding brings in.
      expect(await done('recover', address('hooks'))).toContain('0 left');
      expect(await done('status')).toContain('1 call');
      expect(await done('report', '--all')).toContain('s1');
      const doctor = await cox(['doctor', '--json']);
      const { lines } = jsonLines(doctor.stdout)[0] as { readonly lines: readonly Readonly<Record<string, string>>[] };
      const statusOf = (name: string): string | undefined => lines.find(({ check }) => check === name)?.['status'];
      expect([statusOf('store'), statusOf('spilled events')]).toEqual(['pass', 'pass']);
      // On a busy machine the verification may exceed its limit.
      expect(['pass', 'unknown']).toContain(statusOf('store contents'));

      const listening = ['serve', 'otlp', '--listen', '127.0.0.1:0'];
      let isStopped = false;
      const served = await cox(listening, {
        onStdout: ({ interrupt }: CliControl) => {
          if (!isStopped) interrupt();
          isStopped = true;
        },
      });
      expect(served.code).toBe(0);
      const ended = event('PostToolUse', { ...call, tool_response: { stdout: 'ok' } });
      expect((await cox(['hook'], { stdin: ended })).code).toBe(0);
      expect(await done('recover', address('hooks'))).toContain('0 left');
      const stored = jsonLines(await done('export', 's1', '--store', address('hooks')));
      const kinds = stored.map((record) => (record['payload'] as { readonly kind: string }).kind);
      expect(kinds).toEqual(expect.arrayContaining(['run_started', 'tool_started', 'tool_ended']));
      expect(stored.map((record) => record['seq'])).toEqual(stored.map((_, index) => index));
    });

    test('view shows it and follows a run as it grows', async () => {
      const { code } = await cox(['view', address('one'), '--no-open', '--port', '0'], {
        onStdout: ({ all, interrupt }: { readonly all: string; readonly interrupt: () => void }) => {
          if (all.includes('Ctrl-C')) interrupt();
        },
      });
      expect(code).toBe(0);
      const store = await openStore(address('one'));
      const viewer = await startViewer({ paths: [address('one')], port: 0 });
      try {
        const page = await openPage(viewer);
        const runIds = async (): Promise<readonly string[]> =>
          (await page.json<{ readonly runs: readonly { readonly runId: string }[] }>('/api/runs')).runs.map(
            ({ runId }) => runId,
          );
        await expect.poll(runIds).toContain('alpha');
        await store.append([parseRecord(recordLine('grows', 0, { kind: 'noted', text: 'first' }))]);
        await expect.poll(runIds).toContain('grows');
        await store.append([parseRecord(recordLine('grows', 1, { kind: 'noted', text: 'second' }))]);
        const records = async (): Promise<string> => (await page.get('/api/runs/0/grows/records')).text;
        await expect.poll(records).toContain('second');
        expect((await page.get('/api/sources')).text).not.toContain(PASSWORD);
      } finally {
        await viewer.close();
        await store.close();
      }
    });

    test('recover saves what can be read around damage, and gc deletes', async () => {
      expect(await done('recover', address('hooks'))).toContain('0 left');
      const store = address('three');
      await runSql(
        server.url,
        `UPDATE three.records SET json = replace(json, 'make', 'fake') WHERE seq = 3
         AND run_no = (SELECT run_no FROM three.runs WHERE run_id = 'alpha')`,
      );
      const verified = await cox(['verify', store]);
      expect(verified.stderr).toContain('run alpha, seq 3');
      const saved = await cox(['recover', store, '--to', 'saved.db']);
      expect([saved.code, saved.stdout]).toEqual([1, expect.stringContaining('lost seq 3')]);
      expect(await done('verify', 'saved.db')).toContain('3 runs');
      expect((await cox(['recover', 'saved.db', '--to', address('one')])).stderr).toContain('already exists');
      await done('recover', 'saved.db', '--to', address('four'));

      expect(await done('gc', address('two'), '--max-size', '1kB', '--dry-run')).toContain('would delete');
      expect(await done('gc', address('two'), '--max-size', '1kB')).toContain('deleted');
      expect(jsonLines(await done('runs', '--store', address('two'), '--json'))).toEqual([]);
    });

    test('notifications need nothing of the store', async () => {
      const { code, stderr } = await cox(['notify', 'test']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('no notifications are configured')]);
    });

    test('the tools of the agent need nothing of the store before they are called', async () => {
      const { code, stdout, stderr } = await cox(['mcp'], { stdin: '' });
      expect([code, stdout, stderr]).toEqual([0, '', '']);
    });

    test('a schema without a store is nothing to read, and reading makes none', async () => {
      const { code, stderr } = await cox(['runs', '--store', address('empty')]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('no runs are recorded')]);
      expect(await runSql(server.url, "SELECT 1 FROM pg_namespace WHERE nspname = 'empty'")).toHaveLength(0);
    });

    test('every command of docs/commands.md was tried, and the password is in no output and no file', () => {
      expect(commandsInReadme().filter((name) => !testedCommands.has(name))).toEqual([]);
      expect(testedCommands.size).toBeGreaterThan(20);
      expect(printed).toContain('***');
      expect(printed).not.toContain(PASSWORD);
      const config = join(folder.path, 'config', 'coxswain', 'config.json');
      const holding = filesIn(folder.path).filter((path) => readFileSync(path, 'latin1').includes(PASSWORD));
      expect(holding).toEqual([config]);
    });
  },
);

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
