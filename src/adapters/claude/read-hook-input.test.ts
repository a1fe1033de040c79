import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHookInput } from './read-hook-input.ts';

const PLACE = { session_id: 's1', transcript_path: '/t.jsonl', cwd: '/project', permission_mode: 'default' };
const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' };
const READ = { id: 'toolu_1', name: 'Bash', args: { command: 'ls' } };

describe('the input of a hook', () => {
  test.each([
    [
      { hook_event_name: 'SessionStart', source: 'compact', model: 'm' },
      { source: 'compact', modelId: 'm' },
    ],
    [{ hook_event_name: 'SessionEnd', reason: 'clear' }, { reason: 'clear' }],
    [
      { hook_event_name: 'UserPromptSubmit', prompt: '', source: 'sdk' },
      { prompt: '', source: 'sdk' },
    ],
    [{ hook_event_name: 'PreToolUse', ...CALL }, { call: READ }],
    [
      { hook_event_name: 'PostToolUse', ...CALL, tool_response: 'a.txt', duration_ms: 4 },
      { call: READ, response: 'a.txt', durationMs: 4 },
    ],
    [
      { hook_event_name: 'PostToolUse', ...CALL },
      { call: READ, response: undefined },
    ],
    [
      { hook_event_name: 'PostToolUseFailure', ...CALL, error: 'no' },
      { call: READ, error: 'no' },
    ],
    [
      { hook_event_name: 'PostToolBatch', tool_calls: [{ ...CALL, tool_response: 'a.txt' }, 'no call', {}] },
      { calls: [{ ...READ, response: 'a.txt' }] },
    ],
    [
      { hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'Done.' },
      { isForced: true, lastMessage: 'Done.' },
    ],
    [{ hook_event_name: 'Stop', last_assistant_message: '' }, { isForced: false }],
    [{ hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: null }, { trigger: 'auto' }],
  ])('%j is read', (input, expected) => {
    expect(readHookInput({ ...PLACE, ...input })).toEqual({
      event: input.hook_event_name,
      sessionId: 's1',
      ...expected,
    });
  });

  test('a subagent is told by its id and type', () => {
    const agent = { agent_id: 'a1', agent_type: 'reviewer' };
    const place = { sessionId: 's1', agentId: 'a1', agentType: 'reviewer' };
    expect(readHookInput({ ...PLACE, ...agent, hook_event_name: 'SubagentStart' })).toEqual({
      event: 'SubagentStart',
      ...place,
    });
    expect(readHookInput({ ...PLACE, ...agent, hook_event_name: 'SubagentStop' })).toEqual({
      event: 'SubagentStop',
      isForced: false,
      ...place,
    });
    expect(readHookInput({ ...PLACE, ...agent, hook_event_name: 'PreToolUse', ...CALL })).toMatchObject(place);
  });

  test('the id of a call may come beside the input', () => {
    const { tool_use_id: _inside, ...call } = CALL;
    expect(readHookInput({ hook_event_name: 'PreToolUse', ...call }, 'toolu_9')).toMatchObject({
      call: { id: 'toolu_9' },
    });
  });

  test.each([
    ['an event that is not listened to', { hook_event_name: 'Notification', message: 'hi' }],
    ['no event', PLACE],
    ['a call without an id', { hook_event_name: 'PostToolUse', tool_name: 'Bash' }],
    ['a call without a name', { hook_event_name: 'PreToolUse', tool_use_id: 'toolu_1' }],
    ['a prompt that is no text', { hook_event_name: 'UserPromptSubmit', prompt: { text: 'hi' } }],
    ['a batch that is no list', { hook_event_name: 'PostToolBatch', tool_calls: {} }],
    ['a subagent without an id', { hook_event_name: 'SubagentStart', agent_type: 'reviewer' }],
    ['no object', 'PreToolUse'],
  ])('of %s nothing is made up', (_what, input) => {
    expect(readHookInput(input)).toBeUndefined();
  });

  test('whatever the input is, reading it never throws', () => {
    const event = fc.constantFrom('PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'Stop', 'Else');
    const input = fc.record(
      {
        hook_event_name: event,
        tool_name: fc.anything(),
        tool_use_id: fc.anything(),
        tool_calls: fc.anything(),
        error: fc.jsonValue(),
        duration_ms: fc.anything(),
        agent_id: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(input, fc.anything()), (value) => {
        const read = readHookInput(value);
        expect(read === undefined || typeof read.event === 'string').toBe(true);
      }),
    );
  });
});
