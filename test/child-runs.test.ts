import { expect, test } from 'vitest';
import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { deadlineFeedback, staticFeedback, paceFeedback } from '../src/core/steering/feedback/built-in-feedback.ts';
import { definePrompt } from '../src/core/steering/prompt/define-prompt.ts';
import type { PromptTemplate } from '../src/core/steering/prompt/prompt-template.ts';
import type { SteeringOptions } from '../src/core/steering/steering-options.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { createFakeClock, type FakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';

const everyCall = { everyNCalls: 1 };
const onDeadline: SteeringOptions = { feedback: [{ provider: deadlineFeedback(), trigger: everyCall }], guidance: [] };
const onPace: SteeringOptions = {
  feedback: [{ provider: paceFeedback({ minCalls: 2 }), trigger: everyCall }],
  guidance: [],
};

interface Scene {
  readonly cox: Coxswain;
  readonly store: TrajectoryStore;
  readonly clock: FakeClock;
}

function scene(options: CoxswainOptions): Scene {
  const store = memoryStore();
  const clock = createFakeClock();
  return { cox: createCoxswain({ store, clock, measureMs: () => 0, ...options }), store, clock };
}

let calls = 0;

/** Makes a call in a separate turn. @returns the text that the agent reads after it */
function call(run: Run): string | undefined {
  calls += 1;
  const toolCallId = `call-${calls}`;
  run.emit({ type: 'turn_start' });
  run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'read', args: { path: `${calls}` } });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'read', result: `part ${calls}`, isError: false });
  return run.feedback();
}

function uses(run: Run, inputTokens: number): void {
  run.emit({ type: 'message_end', message: { role: 'assistant', content: 'so', usage: { inputTokens } } });
}

const kinds = (records: readonly TrajectoryRecord[]): readonly string[] => records.map(({ payload }) => payload.kind);

/** Each run of the tree, replayed alone, gives what it gave live. */
async function expectReplays(
  { store }: Scene,
  steering: SteeringOptions,
  prompts: readonly PromptTemplate[] = [],
): Promise<void> {
  const { runs } = await store.listRuns();
  let derivedInAll = 0;
  for (const { runId } of runs) {
    const records = await readAll(store, runId);
    const replay = new Replay({ steering, prompts });
    const derived = records.map(({ payload }) => payload).filter(isDerived);
    derivedInAll += derived.length;
    expect(records.flatMap((record) => replay.take(record))).toEqual(derived);
  }
  expect(derivedInAll).toBeGreaterThan(0);
}

test('a run below another one has its deadline', async () => {
  const at = scene(onDeadline);
  const root = at.cox.startRun({ deadline: { minutes: 10 } });
  const child = root.child({ agentName: 'explorer' });
  at.clock.advance(580);
  expect(call(child)).toContain('You have 20 seconds remaining.');
  expect(call(child.child())).toContain('You have 20 seconds remaining.');
  await at.cox.flush();
  await expectReplays(at, onDeadline);
});

test('of two deadlines the earlier one counts', () => {
  const { cox } = scene(onDeadline);
  const root = cox.startRun({ deadline: { minutes: 10 } });
  expect(call(root.child({ deadline: { minutes: 2 } }))).toContain('2 minutes');
  expect(call(root.child({ deadline: { minutes: 50 } }))).toContain('10 minutes');
});

test('a new deadline reaches the runs below, unless a run was given one by name since', async () => {
  const at = scene(onDeadline);
  const root = at.cox.startRun({ deadline: { minutes: 30 } });
  const [follower, earlier, own] = [root.child(), root.child({ deadline: { minutes: 5 } }), root.child()];
  own.setDeadline({ minutes: 20 });
  root.setDeadline({ minutes: 8 });
  expect(call(follower.child())).toContain('8 minutes');
  expect(call(follower)).toContain('8 minutes');
  expect(call(earlier)).toContain('5 minutes');
  expect(call(own)).toContain('20 minutes');
  await at.cox.flush();
  await expectReplays(at, onDeadline);
});

test('runs of a tree draw on one budget, live and in a replay', async () => {
  const at = scene(onPace);
  const root = at.cox.startRun({ runId: 'root', budget: { tokens: 1_000 } });
  const child = root.child({ runId: 'child' });
  uses(child, 950);
  call(child);
  expect(call(child)).toContain('token budget');
  call(root);
  // The rest of the budget is too small for another call of any run: four calls used 950 tokens.
  expect(call(root)).toContain('At this rate the token budget');
  expect(call(root.child())).toBeUndefined();
  expect(root.usage).toEqual({ calls: 5, tokens: 950 });
  await at.cox.flush();
  await expectReplays(at, onPace);
});

test('a run with its own budget keeps to it, and its use also counts for its parent', () => {
  const { cox } = scene(onPace);
  const root = cox.startRun({ budget: { tokens: 1_000 } });
  const child = root.child({ budget: { tokens: 100_000 } });
  uses(child, 950);
  call(child);
  expect(call(child)).toBeUndefined();
  call(root);
  expect(call(root)).toContain('token budget');
});

test('a run knows what the runs below it used, on its records too', async () => {
  const { cox, store } = scene(onPace);
  const root = cox.startRun({ runId: 'root' });
  const child = root.child({ runId: 'child' });
  const below = child.child();
  call(child);
  uses(child, 40);
  call(below);
  await below.end();
  await child.end();
  child.emit({ type: 'run_resumed', trigger: 'again' });
  uses(child, 2);
  await child.end();
  const ended = (await readAll(store, 'root')).flatMap(({ payload }) =>
    payload.kind === 'child_ended' ? [payload] : [],
  );
  expect(ended).toEqual([
    { kind: 'child_ended', child_run_id: 'child', usage: { calls: 2, tokens: 40 } },
    { kind: 'child_ended', child_run_id: 'child', usage: { calls: 0, tokens: 2 } },
  ]);
  expect(root.usage).toEqual({ calls: 2, tokens: 42 });
});

const staticProvider = (text: string): Pick<PromptTemplate, 'feedbackProviders'> => ({
  feedbackProviders: [{ provider: staticFeedback({ name: 'Static', summary: text }), trigger: everyCall }],
});

test('a run below another one hears the providers of its prompt, unless it has its own', async () => {
  const steering: SteeringOptions = { feedback: [], guidance: [] };
  const at = scene(steering);
  const prompt = definePrompt({ ns: 'agent', key: 'main', ...staticProvider('From the parent.') });
  const root = at.cox.startRun({ prompt });
  const bare = definePrompt({ ns: 'agent', key: 'bare' });
  const own = definePrompt({ ns: 'agent', key: 'own', ...staticProvider('From its own.') });
  expect(call(root.child())).toContain('From the parent.');
  const renamed = root.child({ prompt: bare });
  expect(call(renamed)).toContain('From the parent.');
  expect(renamed.prompt.name).toBe('agent/bare');
  expect(call(root.child({ prompt: own }))).toContain('From its own.');
  await at.cox.flush();
  await expectReplays(at, steering, [prompt, own]);
});

test('conversation and depth come from the parent, the agent has its own name, a handoff keeps the task', async () => {
  const { cox, store } = scene({ feedback: [], guidance: [] });
  const root = cox.startRun({ task: 'Fix the bridge.', agentName: 'planner' });
  root.emit({ type: 'run_identified', identity: { runId: root.id, depth: 0, conversationId: 'chat-9' } });
  const child = root.child({ agentName: 'explorer' });
  const next = root.child({ agentName: 'builder', handoff: true });
  await cox.flush();
  const first = await store.findRun(child.id);
  expect(first).toMatchObject({ conversationId: 'chat-9', depth: 1, agentName: 'explorer', parentRunId: root.id });
  expect(first).not.toHaveProperty('task');
  expect(await store.findRun(next.id)).toMatchObject({ conversationId: 'chat-9', task: 'Fix the bridge.' });
});

test('a rule of the run changes every run below it, however it is started', () => {
  const { cox } = scene(onDeadline);
  const root = cox.startRun({
    deadline: { minutes: 30 },
    children: (child) => (child.agentName === 'reviewer' ? { ...child, deadline: { minutes: 3 } } : child),
  });
  expect(call(root.child({ agentName: 'builder' }))).toContain('30 minutes');
  expect(call(root.child({ agentName: 'builder' }).child({ agentName: 'reviewer' }))).toContain('3 minutes');
});

test('a rule of the run that throws changes nothing, and is recorded', async () => {
  const { cox, store } = scene(onDeadline);
  const root = cox.startRun({
    runId: 'root',
    children: () => {
      throw new Error('no such agent');
    },
  });
  expect(root.child({ agentName: 'builder' }).agentName).toBe('builder');
  await cox.flush();
  expect(kinds(await readAll(store, 'root'))).toEqual(['run_started', 'fault_noticed']);
});

test('a run starts once: later facts have a separate record and remove nothing', async () => {
  const { cox, store } = scene({ feedback: [], guidance: [] });
  const run = cox.startRun({ runId: 'root', task: 'Fix it.', deadline: { minutes: 5 }, agentName: 'planner' });
  run.emit({ type: 'run_identified', identity: { runId: 'root', depth: 0, modelId: 'model-1' } });
  run.emit({ type: 'run_identified', identity: { runId: 'root', depth: 0, conversationId: 'chat-1' } });
  await cox.flush();
  expect(kinds(await readAll(store, 'root'))).toEqual(['run_started', 'run_identified', 'run_identified']);
  const known = { agentName: 'planner', conversationId: 'chat-1', modelId: 'model-1', task: 'Fix it.' };
  expect(await store.findRun('root')).toMatchObject(known);
});
