import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { importDocument } from '../../../test/support/import-check.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { importSource } from '../import-source.ts';
import { opencodeImporter } from './opencode.ts';

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

test('a session file of the storage folder is read with the messages and parts that lie beside it', async () => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const storage = folder.path;
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
  const kinds: string[] = [];
  for await (const item of importSource(join(storage, 'session/global/ses_1.json'))) {
    kinds.push(item.type === 'record' ? item.payload.kind : item.type);
  }
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
