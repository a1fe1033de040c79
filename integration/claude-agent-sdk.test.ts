import { setTimeout } from 'node:timers/promises';
import { createSdkMcpServer, type Options } from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { coxswainTools } from '../src/adapters/claude/index.ts';
import { isJsonObject } from '../src/core/base/json.ts';
import { createCoxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { payloadsOf, playScene, type Played } from '../test/support/adapter-contract/adapter-player.ts';
import {
  feedbackAfterEachCall,
  feedbackMark,
  guidanceAlwaysAt,
  guidanceAt,
  guidanceMark,
} from '../test/support/adapter-contract/contract-advice.ts';
import { FINAL_TEXT, PARALLEL, SEQUENTIAL } from '../test/support/adapter-contract/contract-scenes.ts';
import type { ModelFunction } from '../src/testing/model-script.ts';
import { readAll } from '../test/support/script-records.ts';
import { harness } from './claude-agent-sdk.harness.ts';
import { playClaude, type ClaudeScene } from './claude-scene.ts';

type Scene = Omit<ClaudeScene, 'run'>;

const SPEAKING: CoxswainOptions = { feedback: [feedbackAfterEachCall()] };
/** The program's own shell, besides the tools of the scene. */
const BASH: Options = { tools: ['Bash'], allowedTools: ['Bash', 'mcp__scene'] };

function play(scene: Scene, steering: CoxswainOptions = {}): Promise<Played> {
  return playScene({ ...harness, run: (given) => playClaude({ ...scene, ...given }) }, scene, steering);
}

function bash(command: string): { readonly name: string; readonly args: { readonly [name: string]: string } } {
  return { name: 'Bash', args: { command, description: 'for the test' } };
}

function kindsOf(records: readonly TrajectoryRecord[]): readonly string[] {
  return records.map(({ payload }) => payload.kind);
}

/** How often the mark is in each request. */
function timesOf({ requests }: Pick<Played, 'requests'>, mark: string): readonly number[] {
  return requests.map(({ raw }) => raw.split(mark).length - 1);
}

function outcomesOf(records: readonly TrajectoryRecord[]): readonly string[] {
  return payloadsOf(records, 'run_ended').map(({ outcome }) => outcome);
}

/** The results of calls by id. */
function resultsOf(records: readonly TrajectoryRecord[]): Readonly<Record<string, readonly [unknown, boolean]>> {
  return Object.fromEntries(
    payloadsOf(records, 'tool_ended').map((call) => [call.tool_call_id, [call.result, call.is_error]]),
  );
}

/** The conversation of a request, as text. */
function conversationOf(request: unknown): string {
  return isJsonObject(request) ? JSON.stringify(request['messages']) : '';
}

/** True for a request of the subagent: it has the task and did not hand it out. */
function isOfSubagent(conversation: string): boolean {
  return conversation.includes('TASK-OF-THE-SUBAGENT') && !conversation.includes('"name":"Agent"');
}

/** The main agent hands a task to a subagent, which makes one call. */
const DELEGATING: ModelFunction = (request) => {
  const text = conversationOf(request);
  const isSubagent = isOfSubagent(text);
  const hasAnswered = text.includes('"role":"assistant"');
  if (isSubagent) return hasAnswered ? { text: 'The task is done.' } : { calls: [bash('echo from below')] };
  if (hasAnswered) return { text: FINAL_TEXT };
  const args = { description: 'a task', prompt: 'TASK-OF-THE-SUBAGENT', subagent_type: 'general-purpose' };
  return { text: 'Somebody else does it.', calls: [{ name: 'Agent', args: { ...args, run_in_background: false } }] };
};
const DELEGATION: Scene = {
  ...SEQUENTIAL,
  script: DELEGATING,
  query: { tools: ['Bash', 'Agent'], allowedTools: ['Bash', 'Agent'] },
};

test('a subagent is a run below the main one, with its own calls and its own advice', async () => {
  const guidance = [guidanceAt('pre_render', () => true)];
  const played = await play(DELEGATION, { ...SPEAKING, guidance });
  expect(played.ended).toBe('normally');
  expect(payloadsOf(played.records, 'tool_started').map(({ tool_name }) => tool_name)).toEqual(['Agent']);
  expect(played.children.size).toBe(1);
  const [[id, child] = ['', []]] = played.children;
  expect(id).toMatch(/^scene\/\w+$/);
  expect(child[0]).toMatchObject({ parent_run_id: 'scene', depth: 1 });
  expect(payloadsOf(child, 'run_started')[0]?.identity).toMatchObject({ agent_name: 'general-purpose' });
  expect(payloadsOf(child, 'tool_started').map(({ args }) => args)).toMatchObject([{ command: 'echo from below' }]);
  expect(Object.values(resultsOf(child))).toEqual([['from below', false]]);
  expect(outcomesOf(child)).toEqual(['ended']);
  expect(payloadsOf(child, 'message_appended').map(({ message }) => message.role)).toEqual(
    expect.arrayContaining(['user', 'assistant']),
  );
  expect(JSON.stringify(child)).toContain('The task is done.');
  // Its guidance at its start and its feedback are in its own requests, those of the main run in the main ones.
  const below = played.requests.filter(({ raw }) => isOfSubagent(conversationOf(JSON.parse(raw))));
  const above = played.requests.filter((request) => !below.includes(request));
  expect(timesOf({ requests: below }, feedbackMark(1))).toEqual([0, 1]);
  expect(timesOf({ requests: below }, guidanceMark('pre_render'))).toEqual([1, 1]);
  expect(timesOf({ requests: above }, feedbackMark(1))).toEqual([0, 1]);
  expect(timesOf({ requests: above }, guidanceMark('pre_render'))).toEqual([1, 1]);
});

test('a subagent may be forced to go on once, and so may the main agent', async () => {
  const guidance = [guidanceAlwaysAt('pre_response')];
  const steering = { guidance, noise: { cooldownCalls: 0 } };
  const played = await play({ ...DELEGATION, forceTurn: true }, steering);
  const [child = []] = played.children.values();
  const verdictsOf = (records: readonly TrajectoryRecord[]): readonly boolean[] =>
    payloadsOf(records, 'guidance_delivered').map(({ guidance: said }) => said.delivered);
  expect(verdictsOf(played.records).filter(Boolean)).toEqual([true]);
  expect(verdictsOf(child).filter(Boolean)).toEqual([true]);
  expect(outcomesOf(child)).toEqual(['ended']);
  expect(played.ended).toBe('normally');
});

test('a call that a hook of the user denies is closed with the refusal, and gets feedback', async () => {
  const deny: NonNullable<Options['hooks']> = {
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          async () => ({
            hookSpecificOutput: {
              hookEventName: 'PreToolUse',
              permissionDecision: 'deny',
              permissionDecisionReason: 'not on a Sunday',
            },
          }),
        ],
      },
    ],
  };
  const script = {
    turns: [{ calls: [bash('rm -rf /nowhere'), { name: 'look', args: { at: 1 } }] }, { text: FINAL_TEXT }],
  };
  for (const isUnobserved of [false, true]) {
    const played = await play({ ...SEQUENTIAL, script, query: BASH, hooks: deny, isUnobserved }, SPEAKING);
    expect(played.ended).toBe('normally');
    expect(played.toolRuns).toEqual([{ name: 'look', args: { at: 1 }, failed: false }]);
    const results = resultsOf(played.records);
    expect(results['call_1_1']).toEqual([expect.stringContaining('not on a Sunday'), true]);
    expect(results['call_1_2']?.[1]).toBe(false);
    expect(timesOf(played, feedbackMark(1))).toEqual([0, 1]);
    expect(timesOf(played, feedbackMark(2))).toEqual([0, 1]);
    const channels = payloadsOf(played.records, 'feedback_delivered').map(({ channel }) => channel);
    expect(channels).toEqual(['PostToolUse additionalContext', 'PostToolBatch additionalContext']);
  }
});

test('calls that cannot run at all are closed: an unknown tool, arguments that do not fit', async () => {
  const script = {
    turns: [
      {
        calls: [
          { name: 'mcp__scene__nowhere', args: {} },
          { name: 'Bash', args: { nonsense: 1 } },
        ],
      },
      { text: FINAL_TEXT },
    ],
  };
  for (const isUnobserved of [false, true]) {
    const played = await play({ ...SEQUENTIAL, script, query: BASH, isUnobserved }, SPEAKING);
    const results = resultsOf(played.records);
    expect(results['call_1_1']).toEqual([expect.stringContaining('No such tool'), true]);
    expect(results['call_1_2']).toEqual([expect.stringContaining('InputValidationError'), true]);
    expect(payloadsOf(played.records, 'tool_started').map(({ tool_name }) => tool_name)).toEqual([
      'mcp__scene__nowhere',
      'Bash',
    ]);
    expect(timesOf(played, feedbackMark(2))).toEqual([0, 1]);
  }
});

test("the user's own hooks are called with ours, first, and with their matchers", async () => {
  const order: string[] = [];
  const hooks: NonNullable<Options['hooks']> = {
    PostToolUse: [
      {
        matcher: 'mcp__scene__look',
        hooks: [
          async () => {
            order.push('theirs');
            return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'THEIR-CONTEXT' } };
          },
        ],
      },
      { matcher: 'NeverCalled', hooks: [async () => (order.push('never'), {})] },
    ],
    Notification: [{ hooks: [async () => ({})] }],
  };
  const provide = (): { readonly summary: string } => (order.push('ours'), { summary: 'OUR-FEEDBACK.' });
  const provider = { name: 'Order', shouldRun: () => true, provide };
  const played = await play({ ...SEQUENTIAL, hooks }, { feedback: [{ provider, trigger: { everyNCalls: 1 } }] });
  expect(order).toEqual(['theirs', 'ours', 'theirs', 'ours']);
  expect(timesOf(played, 'THEIR-CONTEXT')).toEqual([0, 1, 2]);
  expect(timesOf(played, 'OUR-FEEDBACK')).toEqual([0, 1, 2]);
});

test('a compaction is one event, whether hooks, messages or both report it', async () => {
  const scene: Scene = {
    ...SEQUENTIAL,
    script: {
      turns: [{ text: 'One.' }, { text: 'A summary.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Four.' }],
    },
    morePrompts: ['/compact', 'Go on.'],
  };
  for (const how of [{}, { isUnobserved: true }, { isUnhooked: true }]) {
    const played = await play({ ...scene, ...how });
    expect(payloadsOf(played.records, 'compaction').map(({ trigger }) => trigger)).toEqual(['manual']);
    expect([...played.children.keys()]).toEqual([]);
  }
});

test('a shell command that fails is a failed call with its output, and gets feedback', async () => {
  const script = { turns: [{ calls: [bash('echo out; echo err >&2; exit 3')] }, { text: FINAL_TEXT }] };
  const played = await play({ ...SEQUENTIAL, script, query: BASH }, SPEAKING);
  const [result, isError] = resultsOf(played.records)['call_1_1'] ?? [];
  expect([result, isError]).toEqual(['Exit code 3\nout\nerr', true]);
  expect(timesOf(played, feedbackMark(1))).toEqual([0, 1]);
  expect(payloadsOf(played.records, 'tool_ended')[0]?.duration_ms).toBeGreaterThanOrEqual(0);
});

test('a text of 9,000 characters reaches the model whole, at each of its places', async () => {
  const long = (name: string, mark: string): NonNullable<CoxswainOptions['feedback']> =>
    Array.from({ length: 5 }, (_, at) => ({
      provider: {
        name: `${name} ${at}`,
        shouldRun: () => true,
        provide: () => ({ summary: `${mark}${at} ${'x'.repeat(1_730)} END${at}` }),
      },
      trigger: { everyNCalls: 1 },
    }));
  const played = await play(SEQUENTIAL, { feedback: long('Long', 'BEGIN') });
  const verdicts = payloadsOf(played.records, 'feedback_delivered').map(({ delivered }) => delivered);
  expect(verdicts.length).toBe(10);
  const chars = payloadsOf(played.records, 'feedback_produced')
    .slice(0, 5)
    .reduce((sum, { text }) => sum + text.length + 2, -2);
  expect([chars > 8_700, chars <= 9_000]).toEqual([true, true]);
  expect(verdicts.every(Boolean)).toBe(true);
  for (const at of [0, 1, 2, 3, 4]) {
    expect(timesOf(played, `BEGIN${at}`)).toEqual([0, 1, 2]);
    expect(timesOf(played, `END${at}`)).toEqual([0, 1, 2]);
  }
});

test('guidance before a call runs stays in the conversation from the next request on', async () => {
  const guidance = [guidanceAt('pre_tool_execution', ({ pendingToolCalls }) => pendingToolCalls.length === 1)];
  const bare = await playClaude(SEQUENTIAL);
  const played = await play(SEQUENTIAL, { guidance });
  expect([played.ended, played.finalText, played.toolRuns]).toEqual([bare.ended, bare.finalText, bare.toolRuns]);
  expect(timesOf(played, guidanceMark('pre_tool_execution'))).toEqual([0, 1, 1]);
  expect(payloadsOf(played.records, 'guidance_delivered').map(({ guidance: { channel } }) => channel)).toEqual([
    'PreToolUse additionalContext',
  ]);
});

test('a query that ends at a limit of the user ends the run at a limit; what came too late is undelivered', async () => {
  const played = await play({ ...SEQUENTIAL, query: { maxTurns: 1 } }, SPEAKING);
  expect(payloadsOf(played.records, 'feedback_delivered')).toMatchObject([
    { delivered: false, reason: 'the model was not asked again' },
  ]);
  expect(played.ended).toEqual({ error: expect.stringContaining('maximum number of turns') });
  expect(payloadsOf(played.records, 'run_ended')).toMatchObject([
    { outcome: 'limit', labels: { subtype: 'error_max_turns', input_tokens: 100, output_tokens: 20 } },
  ]);
});

test('an interrupted query ends the run as aborted, and the call that was stopped is closed', async () => {
  const script = { turns: [{ calls: [{ name: 'wait', args: {} }] }, { text: FINAL_TEXT }] };
  let isInterrupted = false;
  const scene: Scene = {
    ...SEQUENTIAL,
    script,
    tools: { wait: () => setTimeout(20_000, 'at last', { ref: false }) },
    streaming: true,
    onMessage: (message, messages) => {
      if (message.type !== 'assistant' || isInterrupted) return;
      isInterrupted = true;
      void setTimeout(500).then(() => messages.interrupt());
    },
  };
  const played = await play(scene);
  expect(outcomesOf(played.records)).toEqual(['aborted']);
  expect(resultsOf(played.records)['call_1_1']?.[1]).toBe(true);
});

test('hooks alone: the same advice and calls, the last answer, and an end by run.end()', async () => {
  const both = await play(PARALLEL, SPEAKING);
  const hooked = await play({ ...PARALLEL, isUnobserved: true }, SPEAKING);
  expect(hooked.requests.map(({ raw }) => raw)).toEqual(both.requests.map(({ raw }) => raw));
  expect(resultsOf(hooked.records)).toEqual(resultsOf(both.records));
  const countOf = (kind: string, { records }: Played): number => kindsOf(records).filter((one) => one === kind).length;
  for (const kind of ['turn_started', 'tool_started', 'tool_ended', 'feedback_produced', 'compaction']) {
    expect([kind, countOf(kind, hooked)]).toEqual([kind, countOf(kind, both)]);
  }
  const answers = payloadsOf(hooked.records, 'message_appended').map(({ message }) => [message.role, message.content]);
  expect(answers).toEqual([
    ['user', PARALLEL.prompt],
    ['assistant', FINAL_TEXT],
  ]);
  expect(outcomesOf(hooked.records)).toEqual(['ended']);
});

test('messages alone: everything is on record and nothing is said', async () => {
  const bare = await playClaude(PARALLEL);
  const both = await play(PARALLEL, SPEAKING);
  const observed = await play({ ...PARALLEL, isUnhooked: true }, SPEAKING);
  expect(observed.requests.map(({ raw }) => raw)).toEqual(bare.requests.map(({ raw }) => raw));
  expect(resultsOf(observed.records)).toEqual(resultsOf(both.records));
  const turnsOf = ({ records }: Played): readonly string[] =>
    kindsOf(records).filter((kind) => ['turn_started', 'tool_started'].includes(kind));
  expect(turnsOf(observed)).toEqual(turnsOf(both));
  expect(outcomesOf(observed.records)).toEqual(['ended']);
});

test('both tell each thing once, in the order in which it happened', async () => {
  const played = await play(SEQUENTIAL, {});
  const kinds = kindsOf(played.records).filter((kind) => kind !== 'evaluation');
  const call = ['turn_started', 'tool_started', 'message_appended', 'tool_ended'];
  expect(kinds).toEqual([
    'run_started',
    'run_identified',
    'message_appended',
    'run_identified',
    ...call,
    ...call,
    'turn_started',
    'message_appended',
    'run_ended',
  ]);
  const identity = payloadsOf(played.records, 'run_identified').at(-1);
  expect(identity).toMatchObject({ model_id: 'claude-sonnet-4-5' });
  expect(identity?.conversation_id).toMatch(/^[0-9a-f-]{36}$/);
});

test('without partial messages the tokens of the whole query are still on record at its end', async () => {
  const played = await play({ ...SEQUENTIAL, query: { includePartialMessages: false } });
  expect(payloadsOf(played.records, 'run_ended')).toMatchObject([
    { outcome: 'ended', labels: { subtype: 'success', num_turns: 3, input_tokens: 300, output_tokens: 60 } },
  ]);
});

test('a loop that the user leaves early ends the run as aborted', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, feedback: [] });
  const run = cox.startRun({ runId: 'left' });
  const leave = new Error('the user has seen enough');
  const onMessage = (message: { readonly type: string }): void => {
    if (message.type === 'assistant') throw leave;
  };
  const outcome = await playClaude({ ...SEQUENTIAL, run, onMessage });
  expect(outcome.ended).toEqual({ error: leave.message });
  await cox.flush();
  expect(outcomesOf(await readAll(store, 'left'))).toEqual(['aborted']);
});

test('a further query in the same run opens it again', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, ...SPEAKING, guidance: [] });
  const run = cox.startRun({ runId: 'twice' });
  await playClaude({ ...SEQUENTIAL, run });
  await playClaude({ ...SEQUENTIAL, run, script: { turns: [{ text: 'Once more.' }] } });
  const records = await readAll(store, 'twice');
  expect(payloadsOf(records, 'run_resumed').map(({ trigger }) => trigger)).toEqual(['prompt']);
  expect(outcomesOf(records)).toEqual(['ended', 'ended']);
  expect(JSON.stringify(records.at(-2))).toContain('Once more.');
});

test('the agent acknowledges advice by the tool, and a subagent its own', async () => {
  const answer = { provider: 'Contract', response: 'accepted', note: 'I do so.' };
  const name = 'mcp__coxswain__acknowledge_advice';
  const below: ModelFunction = (request, index) => {
    const text = conversationOf(request);
    const isSubagent = isOfSubagent(text);
    const turn = DELEGATING(request, index);
    const isDone = 'text' in turn && turn.calls === undefined;
    return isDone && !text.includes(`"name":"${name}","input"`)
      ? { calls: [{ name, args: { ...answer, note: isSubagent ? 'From below.' : 'From above.' } }] }
      : turn;
  };
  const store = memoryStore();
  const cox = createCoxswain({ store, ...SPEAKING, guidance: [] });
  const run = cox.startRun({ runId: 'heard' });
  const outcome = await playClaude({
    ...DELEGATION,
    script: below,
    run,
    servers: { coxswain: coxswainTools(run, { createSdkMcpServer, z }) },
    query: { tools: ['Bash', 'Agent'], allowedTools: ['Bash', 'Agent', name] },
  });
  expect(outcome.ended).toBe('normally');
  const notesOf = async (runId: string): Promise<readonly unknown[]> =>
    payloadsOf(await readAll(store, runId), 'advice_acknowledged').map(({ note }) => note);
  expect(await notesOf('heard')).toEqual(['From above.']);
  const { runs } = await store.listRuns({});
  const child = runs.find(({ parentRunId }) => parentRunId === 'heard');
  expect(await notesOf(child?.runId ?? '')).toEqual(['From below.']);
  const offered = outcome.requests[0]?.raw ?? '';
  expect(offered).toContain(`"name":"${name}"`);
  expect(offered).toContain('"enum":["accepted","rejected","noted"]');
});
