import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { importDocument } from '../../../test/support/import-check.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import type { ImportItem } from '../importer.ts';
import { importSource } from '../import-source.ts';
import { opencodeImporter } from './opencode.ts';

/** The members of the recorded export that the test takes apart. */
interface OpencodeExport {
  readonly info: { readonly id: string };
  readonly messages: readonly {
    readonly info: { readonly id: string };
    readonly parts: readonly { readonly id: string }[];
  }[];
}

const message = (info: object, ...parts: readonly object[]) => ({
  info: { time: { created: 1_795_406_519_505 }, ...info },
  parts,
});
const tool = (callID: string, state: object) => ({ type: 'tool', tool: 'bash', callID, state });

test('text that a plugin put in is no user text, and a compaction is a record', () => {
  const { runs } = importDocument(opencodeImporter, {
    info: { id: 'ses_1', parentID: 'ses_0', agent: 'general' },
    messages: [
      message(
        { id: 'm1', role: 'user' },
        { type: 'text', text: 'advice', synthetic: true },
        { type: 'text', text: 'Go.' },
      ),
      message({ id: 'm2', role: 'user' }, { type: 'compaction', auto: false }),
    ],
  });
  expect(runs[0]?.run).toMatchObject({ id: 'ses_1', parentId: 'ses_0', agentName: 'general', task: 'Go.' });
  expect(runs[0]?.payloads).toMatchObject([
    { message: { role: 'system', content: 'advice' } },
    { message: { role: 'user', content: 'Go.' } },
    { kind: 'compaction', trigger: 'manual' },
  ]);
});

test('an older answer of several steps is as many turns, a call that still runs has no result, and an aborted run says so', () => {
  const done = { status: 'completed', output: 'x', metadata: { exit: 0 }, time: { start: 1_000, end: 1_250 } };
  const { runs } = importDocument(opencodeImporter, {
    info: { id: 'ses_1' },
    messages: [
      message(
        { id: 'm1', role: 'assistant', error: { name: 'MessageAbortedError', data: { message: 'Aborted' } } },
        { type: 'step-start' },
        tool('a', done),
        { type: 'step-finish', tokens: { input: 5, output: 2, reasoning: 1, cache: { read: 3 } }, cost: 0.5 },
        { type: 'step-start' },
        tool('b', { status: 'running', input: {} }),
      ),
    ],
  });
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(2);
  expect(runs[0]?.payloads[1]).toMatchObject({
    message: { usage: { input_tokens: 5, output_tokens: 3, cache_read_tokens: 3, cost_usd: 0.5 } },
  });
  expect(runs[0]?.ends).toMatchObject([{ duration_ms: 250 }, { result_missing: true }]);
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ outcome: 'aborted' });
});

const sample = fileURLToPath(new URL('../../../test/session-samples/opencode-export.jsonl', import.meta.url));

test('an answer has the time at which the model had written it, not that at which it was asked', () => {
  const createdMs = 1_795_406_519_505;
  const [startMs, writtenMs] = [createdMs + 30_000, createdMs + 90_000];
  const { runs } = importDocument(opencodeImporter, {
    info: { id: 'ses_1' },
    messages: [
      message(
        { id: 'm1', role: 'assistant' },
        tool('a', { status: 'completed', output: 'x', time: { start: startMs, end: startMs + 250 } }),
      ),
      message(
        { id: 'm2', role: 'assistant' },
        { type: 'text', text: 'Done.', time: { start: startMs + 500, end: writtenMs } },
      ),
    ],
  });
  const [run] = runs;
  const times = run?.payloads.flatMap(({ kind }, index) => (kind === 'message_appended' ? run.atMs[index] : []));
  expect(times).toEqual([startMs, writtenMs]);
});

test('the database holds the same sessions as their exports', async () => {
  const folder = testFolder();
  const path = join(folder, 'opencode.db');
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, agent TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
  `);
  const { info, messages } = JSON.parse(await readFile(sample, 'utf8')) as OpencodeExport;
  database.prepare('INSERT INTO session VALUES (?, NULL, NULL, 1)').run(info.id);
  for (const [at, one] of messages.entries()) {
    const { id, ...about } = one.info;
    database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(id, info.id, at, JSON.stringify(about));
    for (const { id: partId, ...part } of one.parts) {
      database.prepare('INSERT INTO part VALUES (?, ?, ?)').run(partId, id, JSON.stringify(part));
    }
  }
  database.close();
  expect(await itemsOf(path)).toEqual(await itemsOf(sample));
});

test('a database of something else is an unknown form, named by its tables', async () => {
  const folder = testFolder();
  const path = join(folder, 'other.db');
  const database = new DatabaseSync(path);
  database.exec(
    'CREATE TABLE cakes (id); CREATE VIEW session AS SELECT 1; CREATE VIEW message AS SELECT 1; CREATE VIEW part AS SELECT 1',
  );
  database.close();
  await expect(itemsOf(path)).rejects.toMatchObject({
    code: 'format-unknown',
    message: expect.stringContaining('a SQLite database with the tables cakes, not one of opencode or goose'),
  });
});

test('the store of coxswain is named with the commands that read it', async () => {
  const folder = testFolder();
  const path = join(folder, 'runs.db');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE records (run_id); CREATE TABLE removed_runs (run_id)');
  database.close();
  await expect(itemsOf(path)).rejects.toThrow(
    'a store of coxswain: coxswain report, backtest and view read it, and coxswain export writes its runs as files',
  );
});

test('a session file of the storage folder is read with the messages and parts that lie beside it', async () => {
  const folder = testFolder();
  const storage = folder;
  const write = async (path: string, document: object): Promise<void> => {
    await mkdir(dirname(join(storage, path)), { recursive: true });
    await writeFile(join(storage, path), JSON.stringify(document));
  };
  await write('session/global/ses_1.json', { id: 'ses_1', directory: '/p', title: 't', version: '1.0.0' });
  await write('message/ses_1/msg_1.json', { id: 'msg_1', role: 'user', time: { created: 1_795_406_519_505 } });
  await write('part/msg_1/prt_1.json', { id: 'prt_1', type: 'text', text: 'Go.' });
  await write('message/ses_1/msg_2.json', {
    id: 'msg_2',
    role: 'assistant',
    time: {},
    tokens: { input: 5, output: 2 },
  });
  await write('part/msg_2/prt_2.json', tool('a', { status: 'error', error: 'no', input: {} }));
  const items = await itemsOf(join(storage, 'session/global/ses_1.json'));
  const kinds = items.map((item) => (item.type === 'record' ? item.payload.kind : item.type));
  expect(kinds).toEqual([
    'run',
    'message_appended',
    'turn_started',
    'message_appended',
    'tool_started',
    'tool_ended',
    'end',
  ]);
});

async function itemsOf(path: string): Promise<readonly ImportItem[]> {
  return Array.fromAsync(importSource(path));
}
