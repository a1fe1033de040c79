import { expect, test } from 'vitest';

import {
  CLASSIFIERS,
  GUIDANCE,
  type AnyClassifier,
  type AnyGuidance,
  FEEDBACK,
  type AnyFeedback,
} from '../src/hosts/config/providers.ts';
import { checkCompletion, createCoxswain, type Run, type SteeringOptions } from '../src/index.ts';
import type { ClassificationResult } from '../src/core/records/spoken-advice.ts';
import { staticFeedback } from '../src/core/steering/feedback/built-in-feedback.ts';
import { defineGuidance, guidanceBank } from '../src/core/steering/guidance/define-guidance.ts';
import { sensitiveContentPending } from '../src/core/steering/guidance/classifier.ts';
import type { GuidanceContext } from '../src/core/steering/prompt/guidance-provider.ts';
import { REFUSAL_ADVICE } from '../src/core/steering/prompt/refusal.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { FAILURES, REFUSALS } from './support/refusals.ts';

interface Call {
  readonly tool?: string;
  readonly args?: object;
  readonly result: string;
  readonly isError?: boolean;
}

const URGES = 'Find another way to do this.';
/** Providers that state the time, the budget or the number of calls. They are not about how calls ended. */
const NOT_ABOUT_CALLS = /^\[Feedback - (?:Deadline|Pace|ToolUsageMonitor)\]/;

/** Every built-in provider, at every opportunity, and texts of the user with every trigger and classifier about calls. */
function everyProvider(): SteeringOptions {
  // Each entry of these tables makes a provider without options.
  const feedback = Object.values(FEEDBACK) as unknown as readonly AnyFeedback[];
  const guidance = Object.values(GUIDANCE) as unknown as readonly AnyGuidance[];
  const classifiers = Object.values(CLASSIFIERS) as unknown as readonly AnyClassifier[];
  const trigger = { onPattern: { level: 'hint' }, everyNCalls: 1, everyNSeconds: 1 } as const;
  return {
    delivery: 'all',
    cadence: 'per-provider',
    noise: { callsPerAdvice: 0 },
    maxGuidancePerTurn: 50,
    feedback: [
      ...feedback.map(({ make }) => ({ provider: make(), trigger })),
      { provider: staticFeedback({ name: 'Own', summary: URGES }), trigger: { onPattern: { level: 'hint' } } },
    ],
    observers: [
      {
        observer: { name: 'Watch', shouldRun: () => true, observe: () => ({ summary: URGES }) },
        trigger: { onPattern: { level: 'hint' } },
      },
    ],
    guidance: [
      ...guidance.map(({ make }) => ({ provider: make() })),
      ...classifiers.map((make, index) => {
        const classifier = make();
        const own = { name: `own-${index}`, category: `own-${index}`, key: `own.${index}`, content: URGES };
        return { provider: defineGuidance({ ...own, classifier }), minConfidence: 0 };
      }),
    ],
  };
}

const STEERINGS: readonly (readonly [string, () => SteeringOptions])[] = [
  ['the standard steering', standardSteering],
  ['every provider', everyProvider],
];

function startRun(steering: SteeringOptions): Run {
  // A busy machine must not look like a slow provider.
  return createCoxswain({ ...steering, measureMs: () => 0 }).startRun({
    deadline: { minutes: 20 },
    budget: { calls: 100 },
  });
}

/** Makes the calls in successive turns. Returns all texts for the model. */
function textsAfter(run: Run, calls: readonly Call[]): readonly string[] {
  return calls.flatMap(({ tool = 'Bash', args = { command: 'rm -rf build' }, result, isError = true }, index) => {
    const toolCallId = `call-${run.analysis.calls}-${index}`;
    const pendingToolCalls = [{ toolCallId, toolName: tool, args: {} }];
    const before = [...run.advise('pre_render'), ...run.advise('pre_tool_selection')];
    run.emit({ type: 'turn_start' });
    const atCall = run.advise('pre_tool_execution', { pendingToolCalls });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: tool, args });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: tool, result, isError });
    return [...before, ...atCall, ...run.advise('post_tool_result')].map(({ text }) => text);
  });
}

const times = (count: number, call: (index: number) => Call): readonly Call[] =>
  Array.from({ length: count }, (_, index) => call(index));

/** Returns the texts that may be about calls, without headings. */
const aboutCalls = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => !NOT_ABOUT_CALLS.test(text)).map((text) => text.replace(/^\[.*\]\n\n/, ''));

test.each(STEERINGS.flatMap(([name, steering]) => REFUSALS.map((refusal) => ({ name, steering, ...refusal }))))(
  'after refusals of $host, $name says nothing or to leave them undone: $text',
  async ({ steering, text }) => {
    const scenes: readonly (readonly Call[])[] = [
      times(8, () => ({ result: text })),
      times(8, (index) => ({ result: text, args: { command: `rm -rf build${index}` } })),
      times(8, (index) => ({ result: text, tool: ['Bash', 'Write', 'WebFetch'][index % 3] ?? '' })),
      // The last calls fail otherwise.
      [...times(3, () => ({ result: text })), ...times(6, () => ({ result: 'Exit code 1\nrm: Permission denied' }))],
      // The agent tries to go round the refusal, and fails.
      [
        { result: text },
        ...times(8, (index) => ({
          result: 'Exit code 126\nPermission denied',
          args: { command: `sudo rm b${index}` },
        })),
      ],
    ];
    for (const calls of scenes) {
      const run = startRun(steering());
      for (const said of aboutCalls(textsAfter(run, calls))) expect(said).toBe(REFUSAL_ADVICE);
      expect(run.analysis.refusals).toBeGreaterThan(0);
      expect(await checkCompletion(run, { missing: () => ['build is still there'] })).toMatchObject({
        text: undefined,
      });
    }
  },
);

test('the text about refusals is of use to an agent whose person is away: it goes on without them, and names no other way', () => {
  expect(REFUSAL_ADVICE).toMatch(
    /Do not try the same in another way.*go on with the parts.*say at the end what is missing/,
  );
  expect(REFUSAL_ADVICE).not.toMatch(/\b(?:stop|ask|instead|alternative|sudo|permission mode)\b/i);
});

test('an agent that repeats refused calls hears once what to do', () => {
  const run = startRun(standardSteering());
  const texts = textsAfter(
    run,
    times(4, () => ({ result: 'This command requires approval' })),
  );
  expect(aboutCalls(texts)).toEqual([REFUSAL_ADVICE]);
  expect(run.analysis.openPatterns().map(({ refused }) => refused)).toContain(4);
});

test.each(FAILURES)('advice on a failure is given as before: %s', (text) => {
  const run = startRun(everyProvider());
  const texts = aboutCalls(
    textsAfter(
      run,
      times(6, () => ({ result: text })),
    ),
  );
  expect(texts).toContain(URGES);
  expect(texts).not.toContain(REFUSAL_ADVICE);
  expect(run.analysis.errors).toBe(6);
});

test.each(REFUSALS)('a file that contains a text of $host is not a refusal: $text', ({ text }) => {
  const run = startRun(everyProvider());
  const texts = textsAfter(
    run,
    times(6, () => ({ tool: 'Read', args: { path: 'a.md' }, result: text, isError: false })),
  );
  expect(aboutCalls(texts)).toContain(URGES);
  expect(run.analysis.refusals).toBe(0);
});

test('refused and cancelled calls are no failures, and do not end a row of failures', () => {
  const run = startRun(standardSteering());
  textsAfter(run, [
    { result: 'Exit code 1\nno' },
    { result: 'This command requires approval' },
    { result: '[Request interrupted by user for tool use]' },
    { result: 'Exit code 1\nno' },
  ]);
  const { analysis } = run;
  expect([analysis.errors, analysis.consecutiveErrors, analysis.refusals]).toEqual([2, 2, 1]);
  expect(analysis.recentCalls().map(({ failed, outcome }) => [failed, outcome])).toEqual([
    [true, undefined],
    [false, 'refused'],
    [false, 'cancelled'],
    [true, undefined],
  ]);
});

test('advice about other calls is given again sixteen calls after a refusal', () => {
  const run = startRun(standardSteering());
  textsAfter(run, [{ result: 'This command requires approval' }]);
  const failing: Call = { args: { command: 'npm test' }, result: 'Exit code 1\nExpected 2, got 3' };
  expect(
    aboutCalls(
      textsAfter(
        run,
        times(15, () => failing),
      ),
    ),
  ).toEqual([]);
  expect(
    aboutCalls(
      textsAfter(
        run,
        times(2, () => failing),
      ),
    ).join(),
  ).toContain('failed in the same way');
});

test('the choice of a model is not used after a refusal', async () => {
  const bank = guidanceBank({ urge: { content: URGES, category: 'urge' } });
  const chooser = { name: 'chooser', classify: async () => ({ instructionId: 'urge', confidence: 1 }) };
  const said = async (calls: readonly Call[]): Promise<readonly string[]> => {
    const run = startRun({ models: [{ classifier: chooser, bank, decisionPoints: ['pre_tool_selection'] }] });
    textsAfter(run, calls);
    await run.ready();
    await new Promise((done) => setImmediate(done));
    return run.advise('pre_tool_selection').map(({ text }) => text);
  };
  expect(await said([{ result: 'no such file' }])).toEqual([expect.stringContaining(URGES)]);
  expect(await said([{ result: 'This command requires approval' }])).toEqual([]);
});

test('guidance that does not concern how calls ended is also given after a refusal', () => {
  const content = 'Take the secret out of this call.';
  const classify = ({ trajectory }: GuidanceContext): ClassificationResult => {
    return { relevant: trajectory.refusals > 0, confidence: 1 };
  };
  const said = (afterRefusals: boolean | undefined): readonly string[] => {
    const classifier = { name: 'secrets', afterRefusals, classify };
    const provider = defineGuidance({
      name: 'secrets',
      category: 'safety',
      classifier,
      key: 'safety.secrets',
      content,
    });
    const run = startRun({ guidance: [{ provider }] });
    const texts = textsAfter(run, [{ result: 'This command requires approval' }]);
    return [...texts, ...run.advise('pre_tool_selection').map(({ text }) => text)];
  };
  expect(sensitiveContentPending().afterRefusals).toBe(true);
  expect(said(true)).toEqual([expect.stringContaining(content)]);
  expect(said(undefined)).toEqual([]);
});

test('an agent that a refusal keeps from its conditions may stop, until the person speaks again', async () => {
  const run = startRun(standardSteering());
  const missing = (): readonly string[] => ['The file a.txt does not exist.'];
  textsAfter(run, [{ result: 'This command requires approval' }, { result: 'fine', isError: false }]);
  expect((await checkCompletion(run, { missing })).text).toBeUndefined();
  run.emit({ type: 'message_end', message: { role: 'user', content: 'You may write it now.' } });
  expect((await checkCompletion(run, { missing })).text).toContain('Complete this');
});

test('a host states the outcome of a call itself, whatever the words of its gate', () => {
  const run = startRun(everyProvider());
  for (let index = 0; index < 6; index += 1) {
    const toolCallId = `${index}`;
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'pay', args: {} });
    const end = { toolCallId, toolName: 'pay', result: 'Ask the finance team.', isError: false };
    run.emit({ type: 'tool_execution_end', ...end, outcome: 'refused' });
    const texts = run.advise('post_tool_result').map(({ text }) => text);
    for (const said of aboutCalls(texts)) expect(said).toBe(REFUSAL_ADVICE);
  }
  expect(run.analysis.refusals).toBe(6);
});
