import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { endingOfTranscript } from './hook-event.ts';

async function transcript(...lines: readonly (object | string)[]): Promise<string> {
  const folder = testFolder();
  const path = join(folder, 's1.jsonl');
  await writeFile(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return path;
}

const answered = {
  type: 'assistant',
  message: { content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' },
};
const result = { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] } };
const maxTurns = { type: 'attachment', attachment: { type: 'max_turns_reached', maxTurns: 4 } };

test('the last word of the main thread decides', async () => {
  expect(endingOfTranscript(await transcript(result, answered))).toEqual({ outcome: 'ended', reason: 'answered' });
  expect(endingOfTranscript(await transcript(result, maxTurns))?.reason).toBe('turn_limit');
  const side = { ...answered, isSidechain: true };
  expect(endingOfTranscript(await transcript(result, side))).toEqual({ outcome: 'aborted', reason: 'interrupted' });
});

test('of a long transcript the end is read, whose first line is cut', async () => {
  const long = { ...result, message: { content: [{ type: 'tool_result', content: 'x'.repeat(100_000) }] } };
  expect(endingOfTranscript(await transcript(long, answered, '{"half'))?.reason).toBe('answered');
});

test('what is no file, or says nothing, gives no end', async () => {
  const path = await transcript('no JSON');
  expect(endingOfTranscript(path)).toBeUndefined();
  expect(endingOfTranscript(`${path}-none`)).toBeUndefined();
  await mkdir(`${path}-folder`);
  expect(endingOfTranscript(`${path}-folder`)).toBeUndefined();
});
