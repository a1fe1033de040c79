import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { endWithTest } from '../../../test/support/end-with-test.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { copilotTail, lastCopilotAnswer } from './transcript-tail.ts';

const EVENT_MS = Date.UTC(2026, 10, 23, 16);

function line(type: string, afterMs: number, data: object = {}): string {
  return `${JSON.stringify({ type, data, timestamp: new Date(EVENT_MS + afterMs).toISOString() })}\n`;
}

async function transcript(text: string): Promise<string> {
  const folder = testFolder();
  const file = join(folder, 'events.jsonl');
  writeFileSync(file, text);
  return file;
}

const earlier = line('assistant.message', -900, { content: 'I list the files.' });
const rest = line('assistant.message', -5, { content: 'All done.' }) + line('hook.start', 1);

test('the answer of Copilot CLI is read once its transcript has reached the event, which may be after the hook began', async () => {
  const file = await transcript(earlier);
  const append = `setTimeout(() => require('fs').appendFileSync(${JSON.stringify(file)}, ${JSON.stringify(rest)}), 50)`;
  endWithTest(spawn(process.execPath, ['-e', append]));
  expect(lastCopilotAnswer(copilotTail(file, { eventMs: EVENT_MS, limitMs: 60_000 }))).toBe('All done.');
});

test('a transcript that does not reach the event gives no answer, and none of an earlier turn', async () => {
  const file = await transcript(earlier);
  expect(copilotTail(file, { eventMs: EVENT_MS, limitMs: 20 })).toEqual([]);
  expect(copilotTail(undefined, { eventMs: EVENT_MS, limitMs: 20 })).toEqual([]);
});
