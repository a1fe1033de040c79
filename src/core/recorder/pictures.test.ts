import { expect, test } from 'vitest';
import { recordedRun } from '../../../test/support/recorded-run.ts';
import { readRuns } from '../../formats/read-runs.ts';
import type { ImportItem } from '../../formats/importer.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';

const SCREENSHOT = Buffer.alloc(1_000_000, 7).toString('base64');

test('twenty screenshots of a megabyte take a few kilobytes: their type, size and digest', async () => {
  const { run, recorded } = recordedRun();
  for (let turn = 0; turn < 10; turn += 1) {
    const image = { type: 'image', mediaType: 'image/png', dataBase64: SCREENSHOT } as const;
    run.emit({ type: 'message_end', message: { role: 'user', content: [image] } });
    run.emit({ type: 'tool_execution_start', toolCallId: `c${turn}`, toolName: 'screenshot', args: {} });
    const source = { type: 'base64', media_type: 'image/png', data: SCREENSHOT };
    const result = [{ type: 'image', source }];
    run.emit({ type: 'tool_execution_end', toolCallId: `c${turn}`, toolName: 'screenshot', result, isError: false });
  }
  const [messages, results] = [await recorded('message_appended'), await recorded('tool_ended')];
  expect(JSON.stringify([messages, results]).length).toBeLessThan(10_000);
  const digest = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(messages[0]?.message.content).toEqual([{ type: 'image', media_type: 'image/png', bytes: 1_000_000, digest }]);
});

test('an imported file leaves no bytes of its pictures, and plain text is unchanged', async () => {
  const url = `data:image/png;base64,${SCREENSHOT}`;
  const payloads: readonly TrajectoryPayload[] = [
    {
      kind: 'message_appended',
      message: { role: 'user', content: [{ type: 'image', media_type: 'image/png', data_base64: SCREENSHOT }] },
    },
    { kind: 'message_appended', message: { role: 'user', content: [{ type: 'other', value: { image: { url } } }] } },
    {
      kind: 'tool_ended',
      tool_call_id: 'c',
      tool_name: 'shot',
      result: [{ type: 'image', data: SCREENSHOT }],
      is_error: false,
    },
    { kind: 'tool_ended', tool_call_id: 'd', tool_name: 'shot', result: `{"shot":"${url}"}`, is_error: false },
    { kind: 'tool_ended', tool_call_id: 'e', tool_name: 'read', result: 'plain;base64,text', is_error: false },
  ];
  const items: readonly ImportItem[] = [
    { type: 'run', run: { key: 'k', id: 'r', format: 'openai-chat' } },
    ...payloads.map((payload) => ({ type: 'record', runKey: 'k', payload }) as const),
  ];
  const importedItems = await Array.fromAsync(readRuns(asAsync(items), { source: 's' }));
  const texts = importedItems.flatMap((item) => (item.type === 'record' ? [JSON.stringify(item.record.payload)] : []));
  expect(texts.filter((text) => text.includes(SCREENSHOT.slice(0, 200)))).toEqual([]);
  expect(texts.filter((text) => /"?digest"?:? ?"?[0-9a-f]{16}/.test(text)).length).toBe(4);
  expect(texts.at(-1)).toBe(JSON.stringify(payloads[4]));
});

async function* asAsync(items: readonly ImportItem[]): AsyncGenerator<ImportItem> {
  yield* items;
}
