import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCoxswain } from '../../core/run/coxswain.ts';
import type { ContentBlock } from '../../core/records/agent-message.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { claudeHooks } from './claude-hooks.ts';
import { claudeSessionOf } from './claude-session.ts';
import { observeMessage } from './observed.ts';
import type { ClaudeHookMatcher } from './sdk-shapes.ts';

/** One answer of a model: what it says, and whether each call it asks for fails. */
interface Answer {
  readonly text: boolean;
  readonly calls: readonly boolean[];
}

type Told =
  | { readonly by: 'hook'; readonly event: string; readonly input: object }
  | { readonly by: 'message'; readonly message: object };

/** Events of a session in SDK order. */
function toldOf(answers: readonly Answer[]): readonly Told[] {
  const events = answers.flatMap((answer, at) => {
    const calls = answer.calls.map((fails, index) => ({ id: callId(at, index), fails }));
    return [
      ...(answer.text ? [part(at, { type: 'text', text: textOf(at) })] : []),
      ...calls.map(({ id }) => part(at, { type: 'tool_use', id, name: 'Bash', input: { command: id } })),
      ...calls.flatMap(({ id, fails }): readonly Told[] => [
        hook('PreToolUse', call(id)),
        fails
          ? hook('PostToolUseFailure', call(id, { error: `result of ${id}` }))
          : hook('PostToolUse', call(id, { tool_response: `result of ${id}` })),
        shown(id, fails),
      ]),
      ...(calls.length === 0
        ? []
        : [hook('PostToolBatch', { tool_calls: calls.map(({ id }) => call(id, { tool_response: 'shown' })) })]),
    ];
  });
  const last = answers.length;
  return [
    hook('UserPromptSubmit', { prompt: 'Go.' }),
    ...events,
    part(last, { type: 'text', text: textOf(last) }),
    hook('Stop', { last_assistant_message: textOf(last) }),
    { by: 'message', message: { type: 'result', subtype: 'success' } },
  ];
}

function callId(answer: number, index: number): string {
  return `call-${answer}-${index}`;
}

function textOf(answer: number): string {
  return `words of ${answer}`;
}

function call(id: string, more: object = {}): object {
  return { tool_name: 'Bash', tool_input: { command: id }, tool_use_id: id, ...more };
}

function hook(event: string, input: object): Told {
  return { by: 'hook', event, input };
}

function part(answer: number, block: object): Told {
  const message = {
    id: `m${answer}`,
    model: 'claude',
    content: [block],
    usage: { input_tokens: 10, output_tokens: 2 },
  };
  return { by: 'message', message: { type: 'assistant', message } };
}

function shown(id: string, fails: boolean): Told {
  const content = [{ type: 'tool_result', tool_use_id: id, content: `shown of ${id}`, is_error: fails }];
  return { by: 'message', message: { type: 'user', message: { role: 'user', content } } };
}

/** The same with each message later by so many places, and the messages still in order. */
function lagging(events: readonly Told[], lags: readonly number[]): readonly Told[] {
  let latest = 0;
  const places = events.map((item, at) => {
    if (item.by === 'hook') return at;
    latest = Math.max(latest, at + (lags[at % Math.max(1, lags.length)] ?? 0));
    return latest;
  });
  return events
    .map((item, at) => ({ item, at, place: places[at] ?? at }))
    .toSorted((one, other) => one.place - other.place || one.at - other.at)
    .map(({ item }) => item);
}

async function recordsOf(
  events: readonly Told[],
  how: { readonly hooked: boolean; readonly observed: boolean },
): Promise<readonly TrajectoryPayload[]> {
  const store = memoryStore();
  const cox = createCoxswain({ store, feedback: [], guidance: [] });
  const run = cox.startRun({ runId: 'run' });
  const hooks: Readonly<Record<string, readonly ClaudeHookMatcher[]>> = how.hooked ? claudeHooks(run) : {};
  const session = claudeSessionOf(run);
  session.isObserved = how.observed;
  for (const item of events) {
    if (item.by === 'message') {
      if (how.observed) observeMessage(session, item.message);
      continue;
    }
    for (const { hooks: callbacks } of hooks[item.event] ?? []) {
      const { signal } = new AbortController();
      for (const callback of callbacks)
        await callback({ hook_event_name: item.event, ...item.input }, undefined, { signal });
    }
  }
  await run.end();
  return (await readAll(store, 'run')).map(({ payload }) => payload);
}

/** The calls of each turn, in order. */
function turnsOf(records: readonly TrajectoryPayload[]): readonly (readonly string[])[] {
  const turns: string[][] = [];
  for (const payload of records) {
    if (payload.kind === 'turn_started') turns.push([]);
    if (payload.kind === 'tool_started') turns.at(-1)?.push(payload.tool_call_id);
  }
  return turns;
}

/** Every part of every answer on record, in order. */
function answeredIn(records: readonly TrajectoryPayload[]): readonly string[] {
  return records.flatMap((payload) => {
    if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return [];
    const { content } = payload.message;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as ContentBlock] : content;
    return blocks.map((block) =>
      block.type === 'tool_call' ? block.id : block.type === 'text' ? block.text : block.type,
    );
  });
}

function endsIn(records: readonly TrajectoryPayload[]): readonly (readonly unknown[])[] {
  return records.flatMap((payload) =>
    payload.kind === 'tool_ended' ? [[payload.tool_call_id, payload.result, payload.is_error]] : [],
  );
}

const answers: fc.Arbitrary<readonly Answer[]> = fc
  .array(fc.record({ text: fc.boolean(), calls: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }) }), {
    maxLength: 4,
  })
  .map((list) => list);

describe('hooks and messages', () => {
  test('however late messages are, each thing is recorded once, and calls are in the turn that asked for them', async () => {
    const lags = fc.array(fc.nat(12), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(answers, lags, async (script, late) => {
        const records = await recordsOf(lagging(toldOf(script), late), { hooked: true, observed: true });
        const calls = script.map((answer, at) => answer.calls.map((_, index) => callId(at, index)));
        expect(turnsOf(records)).toEqual([...calls, []]);
        expect(endsIn(records)).toEqual(
          script.flatMap((answer, at) =>
            answer.calls.map((fails, index) => [callId(at, index), `result of ${callId(at, index)}`, fails]),
          ),
        );
        expect(answeredIn(records)).toEqual([
          ...script.flatMap((answer, at) => [...(answer.text ? [textOf(at)] : []), ...(calls[at] ?? [])]),
          textOf(script.length),
        ]);
        const used = records.flatMap((payload) =>
          payload.kind === 'message_appended' && payload.message.role === 'assistant'
            ? (payload.message.usage?.input_tokens ?? [])
            : [],
        );
        expect(used).toEqual([...script, 'last'].map(() => 10));
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    { hooked: true, observed: false },
    { hooked: false, observed: true },
  ])('either alone reports the same turns and calls: %j', async (how) => {
    await fc.assert(
      fc.asyncProperty(answers, async (script) => {
        const events = toldOf(script);
        const both = await recordsOf(events, { hooked: true, observed: true });
        const alone = await recordsOf(events, how);
        expect(turnsOf(alone)).toEqual(turnsOf(both));
        expect(endsIn(alone).map(([id, , fails]) => [id, fails])).toEqual(
          endsIn(both).map(([id, , fails]) => [id, fails]),
        );
        expect(answeredIn(alone).at(-1)).toBe(textOf(script.length));
      }),
      { numRuns: 30 },
    );
  });
});

test('the used share of a limit is recorded at each tenth from the half on, with the time it resets', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, feedback: [], guidance: [] });
  const run = cox.startRun({ runId: 'r' });
  const session = claudeSessionOf(run);
  const tell = (info: object): void =>
    observeMessage(session, { type: 'rate_limit_event', rate_limit_info: { rateLimitType: 'five_hour', ...info } });
  tell({ status: 'allowed', utilization: 0.3, resetsAt: 1_800_000_000 });
  tell({ status: 'allowed_warning', utilization: 0.91, resetsAt: 1_800_000_000 });
  tell({ status: 'allowed_warning', utilization: 0.94, resetsAt: 1_800_000_000 });
  tell({ status: 'rejected' });
  tell({ status: 'rejected', rateLimitType: 'overage' });
  await run.end();
  const records = await readAll(store, 'r');
  expect(records.flatMap(({ payload }) => (payload.kind === 'session_event' ? [payload.data] : []))).toEqual([
    { used_percent: 91, window_minutes: 300, resets_at_unix_ms: 1_800_000_000_000 },
    { used_percent: 100, window_minutes: 300 },
  ]);
});
