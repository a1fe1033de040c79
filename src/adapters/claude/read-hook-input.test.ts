import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHookInput, tellsFailure } from './read-hook-input.ts';

const PLACE = { session_id: 's1', transcript_path: '/t.jsonl', cwd: '/project', permission_mode: 'default' };
const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' };
const READ = { id: 'toolu_1', name: 'Bash', args: { command: 'ls' } };

describe('the input of a hook', () => {
  test.each([
    [
      { hook_event_name: 'SessionStart', source: 'compact', model: 'm' },
      { kind: 'session_started', source: 'compact', isAfterCompaction: true, modelId: 'm' },
    ],
    [
      { hook_event_name: 'SessionEnd', reason: 'clear' },
      { kind: 'session_ended', reason: 'clear' },
    ],
    [
      { hook_event_name: 'UserPromptSubmit', prompt: '', source: 'sdk' },
      { kind: 'prompted', text: '', role: 'user', isTask: false },
    ],
    [
      { hook_event_name: 'UserPromptSubmit', prompt: 'Look.', source: 'task' },
      { kind: 'prompted', text: 'Look.', role: 'system', isTask: true },
    ],
    [
      { hook_event_name: 'UserPromptSubmit', prompt: '<task-notification>done' },
      { kind: 'prompted', text: '<task-notification>done', role: 'system', isTask: expect.any(Boolean) },
    ],
    [
      { hook_event_name: 'PreToolUse', ...CALL },
      { kind: 'call_issued', call: READ },
    ],
    [
      { hook_event_name: 'PostToolUse', ...CALL, tool_response: 'a.txt', duration_ms: 4 },
      { kind: 'call_ended', call: { ...READ, result: 'a.txt', isError: false, durationMs: 4 } },
    ],
    [
      { hook_event_name: 'PostToolUse', ...CALL },
      { kind: 'call_ended', call: { ...READ, result: '', isError: false } },
    ],
    [
      { hook_event_name: 'PostToolUseFailure', ...CALL, error: 'no' },
      { kind: 'call_ended', call: { ...READ, result: 'no', isError: true } },
    ],
    [
      { hook_event_name: 'PostToolBatch', tool_calls: [{ ...CALL, tool_response: 'a.txt' }, 'no call', {}] },
      { kind: 'batch_ended', calls: [{ ...READ, result: 'a.txt', isError: false }] },
    ],
    [
      { hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'Done.' },
      { kind: 'stopped', isSubagent: false, isForced: true, lastMessage: 'Done.' },
    ],
    [
      { hook_event_name: 'Stop', last_assistant_message: '' },
      { kind: 'stopped', isSubagent: false, isForced: false },
    ],
    [
      { hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: null },
      { kind: 'compacted', trigger: 'auto' },
    ],
  ])('%j is read', (input, expected) => {
    expect(readHookInput({ ...PLACE, ...input })).toEqual({
      name: input.hook_event_name,
      sessionId: 's1',
      ...expected,
    });
  });

  test('a subagent is told by its id and type', () => {
    const agent = { agent_id: 'a1', agent_type: 'reviewer' };
    const place = { sessionId: 's1', agentId: 'a1', agentType: 'reviewer' };
    expect(readHookInput({ ...PLACE, ...agent, hook_event_name: 'SubagentStart' })).toEqual({
      kind: 'agent_started',
      name: 'SubagentStart',
      ...place,
    });
    expect(readHookInput({ ...PLACE, ...agent, hook_event_name: 'SubagentStop' })).toEqual({
      kind: 'stopped',
      name: 'SubagentStop',
      isSubagent: true,
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
        expect(read === undefined || typeof read.kind === 'string').toBe(true);
      }),
    );
  });
});

test.each([
  ["rm in '/p/build' needs approval. Claude Code asks before a shell command removes files there.", false],
  ['Permission to use Bash has been denied.', false],
  ['new.js\npackage.json', true],
])('of a shell call with the result %j, the batch tells if it failed: %s', (result, tells) => {
  expect(tellsFailure({ id: 'a', name: 'Bash', args: {}, result, isError: false })).toBe(tells);
});
