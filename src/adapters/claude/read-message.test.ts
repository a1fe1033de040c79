import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMessage } from './read-message.ts';

describe('a message of the stream', () => {
  test('the beginning says which session and model it is', () => {
    const init = { type: 'system', subtype: 'init', session_id: 's1', model: 'claude', tools: [] };
    expect(readMessage(init)).toEqual({ kind: 'init', sessionId: 's1', modelId: 'claude' });
  });

  test('a part of an answer has its blocks, model, use, and place', () => {
    const usage = { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 0 };
    const blocks = [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Hi.' },
      { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } },
      { type: 'from_tomorrow', since: 1 },
    ];
    const message = { id: 'm1', model: 'claude', content: blocks, stop_reason: null, usage };
    const entry = { type: 'assistant', message, parent_tool_use_id: 't0', agent_id: 'a1', subagent_type: 'reviewer' };
    expect(readMessage(entry)).toEqual({
      kind: 'answer',
      place: { agentId: 'a1', agentType: 'reviewer', parentCallId: 't0' },
      part: {
        messageId: 'm1',
        modelId: 'claude',
        usage: { inputTokens: 9, outputTokens: 1, cacheReadTokens: 3, cacheWriteTokens: 0 },
        blocks: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Hi.' },
          { type: 'tool_call', id: 't1', name: 'Bash', args: { command: 'ls' } },
          { type: 'other', value: { type: 'from_tomorrow', since: 1 } },
        ],
      },
    });
  });

  test('a failed request in the place of an answer is told as such', () => {
    const message = { id: 'x', model: '<synthetic>', content: [{ type: 'text', text: 'API Error: 500' }], usage: {} };
    expect(readMessage({ type: 'assistant', message, parent_tool_use_id: null })).toEqual({
      kind: 'answer',
      place: {},
      part: { messageId: 'x', blocks: [{ type: 'text', text: 'API Error: 500' }], errorMessage: 'API Error: 500' },
    });
  });

  test('results that the model is shown are told from what a user says', () => {
    const content = [
      { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'one' }] },
      { type: 'tool_result', tool_use_id: 't2', content: 'no', is_error: true },
      { type: 'text', text: 'Go on.' },
    ];
    expect(readMessage({ type: 'user', message: { role: 'user', content }, isSynthetic: true })).toEqual({
      kind: 'user',
      place: {},
      results: [
        { callId: 't1', result: 'one', isError: false },
        { callId: 't2', result: 'no', isError: true },
      ],
      blocks: [{ type: 'text', text: 'Go on.' }],
      isSynthetic: true,
      isReplay: false,
    });
    expect(readMessage({ type: 'user', message: { role: 'user', content: 'Hi.' } })).toMatchObject({
      results: [],
      blocks: [{ type: 'text', text: 'Hi.' }],
    });
  });

  test.each([
    [
      { type: 'stream_event', event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'H' } } },
      'delta',
    ],
    [{ type: 'stream_event', event: { type: 'message_start' } }, 'other'],
    [{ type: 'system', subtype: 'task_started', task_id: 'a1', tool_use_id: 't1' }, 'agent'],
    [{ type: 'system', subtype: 'compact_boundary', compact_metadata: { trigger: 'auto' } }, 'compacted'],
    [{ type: 'system', subtype: 'of_tomorrow' }, 'other'],
    [{ type: 'tool_progress', tool_use_id: 't1' }, 'other'],
    [{ type: 'result', subtype: 'success' }, 'result'],
  ])('%j is of the kind %s', (message, kind) => {
    expect(readMessage(message)?.kind).toBe(kind);
  });

  test('the end of a streamed answer says its use', () => {
    const event = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } };
    expect(readMessage({ type: 'stream_event', event, api_message_id: 'm1' })).toEqual({
      kind: 'finished',
      place: {},
      messageId: 'm1',
      usage: { outputTokens: 20 },
      stopReason: 'end_turn',
    });
  });

  test.each([[{ type: 'of_tomorrow' }], [{ type: 'assistant' }], [{ type: 'user', message: 'Hi.' }], [null], ['text']])(
    'of %j nothing is made up',
    (message) => {
      expect(readMessage(message)).toBeUndefined();
    },
  );

  test('whatever it is, reading it never throws', () => {
    const type = fc.constantFrom('assistant', 'user', 'system', 'stream_event', 'result', 'else');
    const content = fc.oneof(
      fc.anything(),
      fc.array(fc.record({ type: fc.constantFrom('text', 'tool_use'), id: fc.anything() })),
    );
    const entry = fc.record({
      type,
      subtype: fc.anything(),
      message: fc.oneof(fc.anything(), fc.record({ id: fc.anything(), content, usage: fc.anything() })),
      event: fc.oneof(fc.anything(), fc.record({ type: fc.constant('message_delta'), usage: fc.anything() })),
      modelUsage: fc.anything(),
    });
    fc.assert(
      fc.property(fc.oneof(entry, fc.anything()), (value) => {
        const read = readMessage(value);
        expect(read === undefined || typeof read.kind === 'string').toBe(true);
      }),
    );
  });
});
