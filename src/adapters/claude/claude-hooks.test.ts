import { describe, expect, test } from 'vitest';
import type { Run } from '../../core/run/run.ts';
import { createCoxswain, type Coxswain, type CoxswainOptions } from '../../core/run/coxswain.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { claudeHooks, type ClaudeHookOptions } from './claude-hooks.ts';
import { observed } from './observed.ts';
import type { ClaudeHookAnswer, ClaudeHookEvent } from './sdk-shapes.ts';

const SPEAKING: CoxswainOptions = {
  delivery: 'all',
  cadence: 'per-provider',
  feedback: [
    {
      provider: { name: 'Count', shouldRun: () => true, provide: (at) => ({ summary: `Call ${at.toolCallCount}.` }) },
      trigger: { everyNCalls: 1 },
    },
  ],
  guidance: [],
};

/** A run with hooks, and what calls them as the SDK does. */
function scene(steering: CoxswainOptions = SPEAKING, options: ClaudeHookOptions = {}) {
  const store = memoryStore();
  const cox: Coxswain = createCoxswain({ store, ...steering });
  const run: Run = cox.startRun({ runId: 'run' });
  const hooks = claudeHooks(run, options);
  const call = async (
    event: ClaudeHookEvent,
    input: object = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ClaudeHookAnswer> => {
    const [matcher] = hooks[event];
    const [hook] = matcher?.hooks ?? [];
    if (hook === undefined) throw new Error(`no hook for ${event}`);
    return await hook({ hook_event_name: event, session_id: 's1', ...input }, undefined, { signal });
  };
  const records = async (runId = 'run'): Promise<readonly TrajectoryPayload[]> => {
    await cox.flush();
    return (await readAll(store, runId)).map(({ payload }) => payload);
  };
  return { cox, run, hooks, call, records };
}

function bash(id: string, command = 'ls'): object {
  return { tool_name: 'Bash', tool_input: { command }, tool_use_id: id };
}

function textOf(answer: ClaudeHookAnswer): string | undefined {
  return answer.hookSpecificOutput?.additionalContext;
}

describe('the hooks', () => {
  test('are there for every event, behind those of the user', () => {
    const theirs = { hooks: [async () => ({})], matcher: 'Bash' };
    const { run } = scene();
    const hooks = claudeHooks(run, { hooks: { PreToolUse: [theirs], Notification: [theirs] } });
    expect(hooks.PreToolUse[0]).toBe(theirs);
    expect(hooks.PreToolUse.length).toBe(2);
    expect(hooks.Notification).toEqual([theirs]);
    expect(Object.keys(claudeHooks(run)).sort()).toEqual(
      [
        'PostToolBatch',
        'PostToolUse',
        'PostToolUseFailure',
        'PreCompact',
        'PreToolUse',
        'SessionStart',
        'Stop',
        'SubagentStart',
        'SubagentStop',
        'UserPromptSubmit',
      ].sort(),
    );
  });

  test('answer a call that came back with the advice, and it counts as delivered when the model goes on', async () => {
    const { call, records } = scene();
    await call('UserPromptSubmit', { prompt: 'Look.' });
    expect(await call('PreToolUse', bash('t1'))).toEqual({});
    expect(await call('PostToolUse', { ...bash('t1'), tool_response: { stdout: 'a', stderr: '' } })).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: expect.stringContaining('Call 1.') },
    });
    await call('PostToolBatch', { tool_calls: [{ ...bash('t1'), tool_response: 'a' }] });
    const verdicts = async (): Promise<readonly TrajectoryPayload[]> =>
      (await records()).filter(({ kind }) => kind === 'feedback_delivered');
    expect(await verdicts()).toEqual([]);
    await call('Stop', { last_assistant_message: 'Done.' });
    expect(await verdicts()).toMatchObject([{ delivered: true, channel: 'PostToolUse additionalContext' }]);
    expect((await records()).filter(({ kind }) => kind === 'tool_ended')).toMatchObject([
      { tool_call_id: 't1', result: 'a', is_error: false },
    ]);
  });

  test('record advice that the model never read as undelivered', async () => {
    const { call, records, run } = scene();
    await call('PreToolUse', bash('t1'));
    await call('PostToolUseFailure', { ...bash('t1'), error: 'no' });
    await run.end('aborted');
    expect((await records()).filter(({ kind }) => kind === 'feedback_delivered')).toMatchObject([
      { delivered: false, reason: 'the model was not asked again' },
    ]);
  });

  test('say nothing to an SDK that waits no more, and record that', async () => {
    const { call, records } = scene();
    await call('PreToolUse', bash('t1'));
    const cancelled = AbortSignal.abort();
    expect(await call('PostToolUse', { ...bash('t1'), tool_response: 'a' }, cancelled)).toEqual({});
    expect((await records()).filter(({ kind }) => kind === 'feedback_delivered')).toMatchObject([
      { delivered: false, reason: 'the hook was cancelled' },
    ]);
  });

  test('keep parallel calls in one turn, in whatever order they come back', async () => {
    const { call, records } = scene();
    await Promise.all([call('PreToolUse', bash('t1')), call('PreToolUse', bash('t2', 'pwd'))]);
    const [second, first] = await Promise.all([
      call('PostToolUse', { ...bash('t2', 'pwd'), tool_response: '/' }),
      call('PostToolUse', { ...bash('t1'), tool_response: 'a' }),
    ]);
    expect([textOf(second), textOf(first)]).toEqual([
      expect.stringContaining('Call 1.'),
      expect.stringContaining('Call 2.'),
    ]);
    await call('PostToolBatch', { tool_calls: [] });
    await call('PreToolUse', bash('t3'));
    const turns = (await records()).filter(({ kind }) => kind === 'turn_started' || kind === 'tool_started');
    expect(turns.map(({ kind }) => kind)).toEqual([
      'turn_started',
      'tool_started',
      'tool_started',
      'turn_started',
      'tool_started',
    ]);
  });

  test('close a call that was refused when its batch is through, and ask for feedback then', async () => {
    const { call, records } = scene();
    await call('PreToolUse', bash('t1'));
    const answer = await call('PostToolBatch', { tool_calls: [{ ...bash('t1'), tool_response: 'not allowed' }] });
    expect(textOf(answer)).toContain('Call 1.');
    expect((await records()).filter(({ kind }) => kind === 'tool_ended')).toMatchObject([
      { tool_call_id: 't1', result: 'not allowed', is_error: true },
    ]);
  });

  test('a call that is cut off by the end of the run is closed without a result', async () => {
    const { call, records, run } = scene();
    await call('PreToolUse', bash('t1'));
    await run.end();
    expect((await records()).slice(-2)).toMatchObject([
      { kind: 'tool_ended', tool_call_id: 't1', result_missing: true },
      { kind: 'run_ended', outcome: 'ended' },
    ]);
  });
});

describe('subagents', () => {
  const agent = { agent_id: 'a1', agent_type: 'reviewer' };

  test('are separate runs, which continue when they are resumed', async () => {
    const { call, records } = scene();
    await call('SubagentStart', agent);
    await call('PreToolUse', { ...bash('t1'), ...agent });
    const answer = await call('PostToolUse', { ...bash('t1'), ...agent, tool_response: 'a' });
    expect(textOf(answer)).toContain('Call 1.');
    await call('SubagentStop', { ...agent, last_assistant_message: 'Done below.' });
    await call('SubagentStart', agent);
    await call('SubagentStop', { ...agent, last_assistant_message: 'Done again.' });
    const kinds = (await records('run/a1')).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('run_'))).toEqual([
      'run_started',
      'run_ended',
      'run_resumed',
      'run_ended',
    ]);
    expect((await records()).some(({ kind }) => kind === 'tool_started')).toBe(false);
  });

  test('that the SDK runs for itself are no runs', async () => {
    const { call, cox } = scene();
    expect(
      await call('SubagentStop', { agent_id: 'a9', agent_type: '', last_assistant_message: 'A summary.' }),
    ).toEqual({});
    expect(cox.health().openRuns).toBe(1);
  });

  test('end with the run', async () => {
    const { call, records, run } = scene();
    await call('PreToolUse', { ...bash('t1'), ...agent });
    await run.end('aborted');
    expect((await records('run/a1')).slice(-2)).toMatchObject([{ kind: 'tool_ended' }, { kind: 'run_ended' }]);
  });
});

describe('what goes wrong', () => {
  test('an input of an unknown shape is kept as it came, and answered with nothing', async () => {
    const { call, records } = scene();
    expect(await call('PostToolUse', { tool: 'of tomorrow' })).toEqual({});
    expect(await call('PostToolUse', { tool: 'of tomorrow', once: 'more' })).toEqual({});
    expect((await records()).filter(({ kind }) => kind === 'unrecognised')).toMatchObject([
      { original: { kind: 'claude-agent-sdk/hook', value: { hook_event_name: 'PostToolUse', tool: 'of tomorrow' } } },
    ]);
  });

  test('a fault of ours is recorded and answered with nothing', async () => {
    const { call, cox, run } = scene();
    run.child = () => {
      throw new Error('no child today');
    };
    expect(await call('SubagentStart', { agent_id: 'a1', agent_type: 'reviewer' })).toEqual({});
    expect(cox.health().lastFault).toContain('no child today');
  });

  test('for those who develop with it, a fault is thrown', async () => {
    const { call, run } = scene(SPEAKING, { onError: 'throw' });
    run.child = () => {
      throw new Error('no child today');
    };
    await expect(call('SubagentStart', { agent_id: 'a1', agent_type: 'reviewer' })).rejects.toThrow('no child today');
  });

  test.each([0, 9_001, 1.5])('a limit of %d characters is refused', (maxChars) => {
    const { run } = scene();
    expect(() => claudeHooks(run, { maxChars })).toThrow(/maxChars is .*from 1 to 9000/);
  });
});

describe('the end', () => {
  async function* stream(messages: readonly object[], error?: Error): AsyncGenerator<object> {
    yield* messages;
    if (error !== undefined) throw error;
  }

  test('messages pass through untouched, in order, and the run is ended', async () => {
    const { run, records } = scene();
    const messages = [
      { type: 'system', subtype: 'init', model: 'm' },
      { type: 'of_tomorrow' },
      { type: 'result', subtype: 'success' },
    ];
    const passed = await Array.fromAsync(observed(run, stream(messages)));
    expect(passed.map((message, at) => message === messages[at])).toEqual([true, true, true]);
    expect((await records()).slice(1)).toMatchObject([
      { kind: 'run_identified', model_id: 'm' },
      { kind: 'unrecognised', original: { kind: 'claude-agent-sdk/message', value: { type: 'of_tomorrow' } } },
      { kind: 'fault_noticed', message: expect.stringContaining('no hook has fired') },
      { kind: 'run_ended', outcome: 'ended', labels: { subtype: 'success' } },
    ]);
  });

  test('what the query throws goes through, and is the outcome', async () => {
    const { run, records } = scene();
    const error = new Error('the process is gone');
    const read = async (): Promise<void> => {
      await observed(run, stream([], error)).next();
    };
    await expect(read()).rejects.toBe(error);
    expect((await records()).at(-1)).toMatchObject({ outcome: 'error', labels: { error: 'the process is gone' } });
  });

  test('the cost in a result counts in a budget from then on', async () => {
    const seen: unknown[] = [];
    const watch = {
      name: 'Watch',
      shouldRun: () => true,
      provide: (at: { readonly usage: object }) => (seen.push(at.usage), undefined),
    };
    const steering = {
      feedback: [{ provider: watch, trigger: { everyNCalls: 1 } }],
      guidance: [],
    } as unknown as CoxswainOptions;
    const { run, call } = scene(steering);
    const messages = observed(
      run,
      stream([{ type: 'result', subtype: 'success', total_cost_usd: 0.5 }, { type: 'auth_status' }]),
    );
    await messages.next();
    await call('PreToolUse', bash('t1'));
    await call('PostToolUse', { ...bash('t1'), tool_response: 'a' });
    expect(seen).toMatchObject([{ calls: 1, costUsd: 0.5 }]);
  });
});
