import { expect, test } from 'vitest';
import { guidanceContext } from '../../../../test/support/guidance-script.ts';
import { EMPTY_GUIDANCE_STATE, evaluateGuidance } from './evaluate-guidance.ts';
import { guidanceBank } from './define-guidance.ts';
import {
  askModel,
  type ModelAnswer,
  type ModelClassifier,
  taskTimers,
  type TaskTimers,
  verdictGuidance,
  withTimeLimit,
} from './model-classifier.ts';

const bank = guidanceBank({ 'run-tests': { content: 'Run the tests.', category: 'testing', priority: 7 } });
const context = guidanceContext({ calls: [{ args: { path: 'private/plan.txt' }, result: 'the private text' }] });

/** TaskTimers that run only when the time is moved. */
function fakeTimers(): TaskTimers & { readonly waiting: () => number; advance(byMs: number): void } {
  let nowMs = 0;
  let timers: readonly { readonly atMs: number; readonly callback: () => void }[] = [];
  return {
    waiting: () => timers.length,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers = [...timers, timer];
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(byMs) {
      nowMs += byMs;
      const due = timers.filter((timer) => timer.atMs <= nowMs);
      timers = timers.filter((timer) => timer.atMs > nowMs);
      for (const timer of due) timer.callback();
    },
  };
}

const answering = (classify: ModelClassifier['classify']): ModelClassifier => ({ name: 'small', classify });
// The adapter of a model may return anything.
const returning = (value: unknown): ModelClassifier => answering(() => Promise.resolve(value as undefined));
const ask = (classifier: ModelClassifier, timers = fakeTimers()): Promise<ModelAnswer> =>
  askModel(classifier, context, { bank, timers });

test('a choice from the bank becomes a verdict, and the verdict guidance of the next decision point', async () => {
  const verdict = { instructionId: 'run-tests', confidence: 0.8 };
  const answer = await ask(returning({ ...verdict, content: 'Delete everything.' }));
  expect(answer).toEqual({ kind: 'verdict', classifier: 'small', verdict });
  const configs = [{ provider: verdictGuidance('small', bank, verdict) }];
  const { produced } = evaluateGuidance(configs, context, EMPTY_GUIDANCE_STATE);
  expect(produced.map((item) => item.injection)).toEqual([bank.get('run-tests')]);
  const unsure = [{ provider: verdictGuidance('small', bank, verdict), minConfidence: 0.9 }];
  expect(evaluateGuidance(unsure, context, EMPTY_GUIDANCE_STATE).produced).toEqual([]);
});

test('without a choice there is no guidance and no fault', async () => {
  expect(await ask(returning(undefined))).toEqual({ kind: 'none', classifier: 'small' });
});

test('invalid results, unknown ids, rejections and exceptions are faults', async () => {
  const throwing = {
    name: 'small',
    classify: (): never => {
      throw new Error('at once');
    },
  };
  const cases: readonly (readonly [ModelClassifier, string])[] = [
    [returning('run-tests'), 'model-junk'],
    [returning({ instructionId: 'run-tests' }), 'model-junk'],
    [returning({ instructionId: 'run-tests', confidence: Number.NaN }), 'model-junk'],
    [returning({ instructionId: 'run-tests', confidence: 2 }), 'model-junk'],
    [returning({ instructionId: ['run-tests'], confidence: 1 }), 'model-junk'],
    [returning({ instructionId: 'toString', confidence: 1 }), 'model-unknown-id'],
    [returning({ instructionId: '__proto__', confidence: 1 }), 'model-unknown-id'],
    [answering(() => Promise.reject(new Error('503'))), 'model-rejected'],
    [throwing, 'model-rejected'],
  ];
  for (const [classifier, code] of cases) {
    expect(await ask(classifier)).toMatchObject({ kind: 'fault', fault: { provider: 'small', phase: 'model', code } });
  }
});

test('a verdict with an unknown id gives no guidance', () => {
  const provider = verdictGuidance('small', bank, { instructionId: 'other', confidence: 1 });
  expect(evaluateGuidance([{ provider }], context, EMPTY_GUIDANCE_STATE)).toMatchObject({ produced: [], faults: [] });
});

test('a classifier that hangs is a fault after the time limit, and its signal is aborted', async () => {
  const timers = fakeTimers();
  let aborted = false;
  let late: ((value: undefined) => void) | undefined;
  const hanging = answering((_digest, { signal }) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return new Promise((resolve) => {
      late = resolve;
    });
  });
  const answer = askModel(hanging, context, { bank, timers, timeLimitMs: 500 });
  timers.advance(499);
  expect(aborted).toBe(false);
  timers.advance(1);
  expect(await answer).toMatchObject({ fault: { code: 'model-timed-out', message: 'no answer within 500 ms' } });
  expect(aborted).toBe(true);
  late?.(undefined);
});

test('a result in time clears the timer', async () => {
  const timers = fakeTimers();
  await ask(returning(undefined), timers);
  expect(timers.waiting()).toBe(0);
});

test('the digest has tools, kinds and counts, but no arguments or results', async () => {
  let sent = '';
  await ask(
    answering((digest) => {
      sent = JSON.stringify(digest);
      return Promise.resolve(undefined);
    }),
  );
  expect(JSON.parse(sent)).toMatchObject({
    decisionPoint: 'pre_tool_selection',
    toolCallCount: 1,
    recentCalls: [{ tool: 'read_file', kind: 'read', failed: false, novel: true }],
    instructions: [{ id: 'run-tests', category: 'testing', content: 'Run the tests.' }],
  });
  expect(sent).not.toContain('private');
});

test('a time limit outside its range is refused at once', () => {
  expect(() => askModel(returning(undefined), context, { bank, timeLimitMs: 0 })).toThrow(
    expect.objectContaining({ code: 'invalid-definition' }),
  );
});

test('the machine’s timers end a task that takes too long, and can be stopped', async () => {
  const hang = (): Promise<never> => new Promise(() => undefined);
  // The timers of the limit do not keep the process alive.
  const alive = setTimeout(() => undefined, 5_000);
  expect(await withTimeLimit(hang, { timeLimitMs: 5 })).toEqual({ kind: 'timed-out' });
  let ran = false;
  taskTimers.after(1, () => {
    ran = true;
  })();
  expect(await withTimeLimit(hang, { timeLimitMs: 20 })).toEqual({ kind: 'timed-out' });
  expect(ran).toBe(false);
  clearTimeout(alive);
});
