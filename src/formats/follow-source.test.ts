import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from '../../test/support/test-folder.ts';
import { followSource, type FollowState } from './follow-source.ts';
import type { ImportItem } from './importer.ts';
import { importSource } from './import-source.ts';

let file: string;

beforeEach(() => {
  file = join(testFolder(), 'run.jsonl');
});

function lines(count: number, text: string): string {
  return Array.from({ length: count }, (_, seq) => {
    const payload = { kind: 'message_appended', message: { role: 'user', content: `${seq} ${text}` } };
    return `${JSON.stringify({ schema_version: 1, seq, run_id: 'r', depth: 0, recorded_at_unix_ms: seq, payload })}\r\n`;
  }).join('');
}

/** Follows until nothing more is to be appended. */
async function followed(pieces: readonly Buffer[]): Promise<readonly ImportItem[]> {
  const stop = new AbortController();
  const waiting = [...pieces];
  const items: ImportItem[] = [];
  const onState = async ({ type }: FollowState): Promise<void> => {
    if (type !== 'caught_up') return;
    const next = waiting.shift();
    if (next === undefined) stop.abort();
    else await appendFile(file, next);
  };
  for await (const item of followSource(file, { intervalMs: 1, signal: stop.signal, onState })) items.push(item);
  return items;
}

async function imported(): Promise<readonly ImportItem[]> {
  return Array.fromAsync(importSource(file));
}

test('an answer of Claude Code whose calls have results is read before the next answer, and its tokens count once', async () => {
  const entry = (uuid: string, type: string, message: object): Buffer =>
    Buffer.from(
      `${JSON.stringify({ type, uuid, sessionId: 's', isSidechain: false, message: { role: type, ...message } })}\n`,
    );
  const answer = (id: string, output_tokens: number): Buffer => {
    const content = [{ type: 'tool_use', id, name: 'Bash', input: { command: id } }];
    return entry(`a${id}`, 'assistant', { id: 'm1', model: 'm', content, usage: { input_tokens: 3, output_tokens } });
  };
  const result = (id: string): Buffer =>
    entry(`r${id}`, 'user', { content: [{ type: 'tool_result', tool_use_id: id, content: `result ${id}` }] });
  const pieces = [entry('u', 'user', { content: 'Go.' }), answer('a', 1), result('a'), answer('b', 9), result('b')];
  await writeFile(file, '');
  const seen: string[] = [];
  const tokens = { input: 0, output: 0 };
  for (const item of await followed(pieces)) {
    if (item.type !== 'record') continue;
    const { payload } = item;
    if (payload.kind === 'tool_ended') seen.push(JSON.stringify(payload.result));
    if (payload.kind === 'turn_started') seen.push('turn');
    if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') continue;
    tokens.input += payload.message.usage?.input_tokens ?? 0;
    tokens.output += payload.message.usage?.output_tokens ?? 0;
  }
  expect(tokens).toEqual({ input: 3, output: 9 });
  expect(seen).toEqual(['turn', '"result a"', '"result b"']);
});

test('a file that comes in pieces, cut anywhere, gives what the whole file gives', async () => {
  const whole = Buffer.from(`\ufeff${lines(40, 'ä € 😀')}`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 4, max: whole.length - 1 }), { maxLength: 6 }), async (cuts) => {
      const at = [...new Set([0, ...cuts, whole.length])].sort((a, b) => a - b);
      await writeFile(file, '');
      const items = await followed(at.slice(1).map((to, index) => whole.subarray(at[index], to)));
      expect(items).toEqual(await imported());
      expect(items).toHaveLength(41);
    }),
    { numRuns: 30 },
  );
});

test('a file larger than one read is read whole', async () => {
  await writeFile(file, lines(4_000, 'x'.repeat(300)));
  expect(await followed([])).toEqual(await imported());
});

test('a document is not followed, nor is a format of documents', async () => {
  await writeFile(file, `${JSON.stringify({ a: Array.from({ length: 40 }, () => 1) }, null, 1)}\n`);
  await expect(followed([])).rejects.toMatchObject({ code: 'format-invalid' });
  const atif = followSource(file, { format: 'atif' });
  await expect(atif.next()).rejects.toMatchObject({ code: 'invalid-argument' });
});
