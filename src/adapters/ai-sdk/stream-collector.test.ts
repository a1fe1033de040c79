import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamCollector } from './watch-stream.ts';
import type { SdkFields } from './sdk-shapes.ts';

function collect(parts: readonly SdkFields[]): { readonly deltas: string; readonly result: SdkFields } {
  const collector = new StreamCollector();
  const deltas = parts.map((part) => collector.add(part)).join('');
  return { deltas, result: collector.result() };
}

const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'run', input: '{}' };

test('a stream is put together as the answer it is', () => {
  const { deltas, result } = collect([
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', modelId: 'm' },
    { type: 'reasoning-start', id: '0', providerMetadata: { p: { signature: 's' } } },
    { type: 'reasoning-delta', id: '0', delta: 'hm' },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'I ' },
    { type: 'tool-input-start', id: 'c1', toolName: 'run' },
    { type: 'tool-input-delta', id: 'c1', delta: '{}' },
    { type: 'text-delta', id: '0', delta: 'look.' },
    call,
    { type: 'ping' },
    { type: 'finish', finishReason: { unified: 'tool-calls' }, usage: { inputTokens: { total: 1 } } },
  ]);
  expect(deltas).toBe('I look.');
  expect(result).toMatchObject({
    content: [{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'I look.' }, call],
    finishReason: { unified: 'tool-calls' },
    usage: { inputTokens: { total: 1 } },
    response: { modelId: 'm' },
  });
});

test('however a text is cut into deltas, it is the same text', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (deltas) => {
      const parts = deltas.map((delta) => ({ type: 'text-delta', id: '1', delta }));
      const { result } = collect([{ type: 'text-start', id: '1' }, ...parts]);
      expect(result['content']).toEqual([{ type: 'text', text: deltas.join('') }]);
    }),
  );
});

test('a delta without a beginning begins its block, and parts without a name here are kept', () => {
  const { result } = collect([
    { type: 'text-delta', id: '1', delta: 'a' },
    { type: 'hologram', value: 1 },
  ]);
  expect(result['content']).toEqual([
    { type: 'text', text: 'a' },
    { type: 'hologram', value: 1 },
  ]);
});
