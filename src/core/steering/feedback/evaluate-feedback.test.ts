import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Severity } from '../../records/spoken-advice.ts';
import { definePrompt, type PromptDefinition } from '../prompt/define-prompt.ts';
import type { FeedbackContext, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import type { PromptTemplate } from '../prompt/prompt-template.ts';
import { restoreSession } from '../../session/create-session.ts';
import { defineEvent } from '../../session/define-event.ts';
import { ToolInvokedEvent } from '../../session/tool-invoked.ts';
import { createFeedbackScene } from '../../../../test/support/feedback-scene.ts';
import { collectFeedback, evaluateFeedback, watchedFiles } from './evaluate-feedback.ts';
import { createFeedbackContext } from './advice-context.ts';
import { deadlineFeedback } from './built-in-feedback.ts';
import type { FeedbackFault } from '../advice-engine.ts';
import { Feedback } from './advice-slices.ts';
import { feedbackSlices } from './speaker.ts';

const NAME = 'agent/main';
const everyCall = { everyNCalls: 1 };

function promptWith(definition: Omit<PromptDefinition, 'ns' | 'key'>): PromptTemplate {
  return definePrompt({ ns: 'agent', key: 'main', ...definition });
}

function createProvider(name: string, severity: Severity = 'info'): FeedbackProvider {
  return { name, shouldRun: () => true, provide: () => ({ summary: `${name} speaks.`, severity }) };
}

function namesOfProduced(prompt: PromptTemplate, scene: ReturnType<typeof createFeedbackScene>): readonly string[] {
  const { session, clock } = scene;
  return evaluateFeedback({ prompt, session, nowMs: clock.nowMs() }).produced.map(({ name }) => name);
}

test('everyNCalls fires exactly every N calls, whatever happens in between', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.constantFrom('call', 'other', 'wait'), { maxLength: 80 }),
      (everyNCalls, steps) => {
        const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNCalls } }] });
        const scene = createFeedbackScene(NAME);
        let callCount = 0;
        for (const step of steps) {
          if (step === 'call') scene.call();
          if (step === 'other') scene.call(1, { promptName: 'agent/other' });
          if (step === 'wait') scene.clock.advance(100);
          callCount += step === 'call' ? 1 : 0;
          const isDue = step === 'call' && callCount % everyNCalls === 0;
          expect(namesOfProduced(prompt, scene)).toEqual(isDue ? ['A'] : []);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('counts stay exact when the session no longer retains the calls', () => {
  const prompt = promptWith({
    feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNCalls: 1_000 } }],
  });
  const scene = createFeedbackScene(NAME);
  scene.call(2_999);
  expect(namesOfProduced(prompt, scene)).toEqual(['A']);
  scene.call(999);
  expect(namesOfProduced(prompt, scene)).toEqual([]);
  scene.call();
  expect(namesOfProduced(prompt, scene)).toEqual(['A']);
  expect(scene.session.slice(Feedback).latest()?.callIndex).toBe(3_999);
});

test('delivery all: the feedback of all providers is joined by severity, then in order of declaration', () => {
  const prompt = promptWith({
    delivery: 'all',
    feedbackProviders: [
      { provider: createProvider('I1'), trigger: everyCall },
      { provider: createProvider('W', 'warning'), trigger: everyCall },
      { provider: createProvider('C', 'caution'), trigger: everyCall },
      { provider: createProvider('I2'), trigger: everyCall },
    ],
  });
  const { session, call } = createFeedbackScene(NAME);
  call();
  const text = collectFeedback({ prompt, session }) ?? '';
  expect(text.match(/(?<=- )\w+(?=\])/g)).toEqual(['W', 'C', 'I1', 'I2']);
  expect(text).toContain('W speaks.\n\n[Feedback - C]');
});

test('a shared cadence lets the earlier provider starve the later one, a cadence per provider does not', () => {
  const feedbackProviders = [
    { provider: createProvider('Often'), trigger: { everyNCalls: 2 } },
    { provider: createProvider('Rarely'), trigger: { everyNCalls: 5 } },
  ];
  const namesWith = (cadence: 'shared' | 'per-provider'): readonly string[] => {
    const prompt = promptWith({ feedbackProviders, cadence, delivery: 'all' });
    const scene = createFeedbackScene(NAME);
    return Array.from({ length: 10 }, () => {
      scene.call();
      return namesOfProduced(prompt, scene).join('+');
    });
  };
  expect(namesWith('shared')).toEqual(['', 'Often', '', 'Often', '', 'Often', '', 'Often', '', 'Often']);
  expect(namesWith('per-provider')).toEqual([
    '',
    'Often',
    '',
    'Often',
    'Rarely',
    'Often',
    '',
    'Often',
    '',
    'Often+Rarely',
  ]);
});

test('with a cadence per provider, each sees its own last feedback and count', () => {
  const contexts: (readonly [string, number | undefined, number])[] = [];
  const recordContext = (name: string): FeedbackProvider => ({
    ...createProvider(name),
    provide: (context: FeedbackContext) => {
      contexts.push([name, context.lastOwnFeedback?.callIndex, context.toolCallsSinceLastFeedback()]);
      return { summary: 'x' };
    },
  });
  const feedbackProviders = [
    { provider: recordContext('Two'), trigger: { everyNCalls: 2 } },
    { provider: recordContext('Three'), trigger: { everyNCalls: 3 } },
  ];
  const prompt = promptWith({ feedbackProviders, cadence: 'per-provider', delivery: 'all' });
  const scene = createFeedbackScene(NAME);
  for (let callCount = 0; callCount < 6; callCount += 1) {
    scene.call();
    namesOfProduced(prompt, scene);
  }
  expect(contexts).toEqual([
    ['Two', undefined, 2],
    ['Three', undefined, 3],
    ['Two', 2, 2],
    ['Two', 4, 2],
    ['Three', 3, 3],
  ]);
});

test('produced feedback has provider, triggers and text as plain data', () => {
  const prompt = promptWith({
    feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNCalls: 2, everyNSeconds: 5 } }],
  });
  const { session, clock, call } = createFeedbackScene(NAME);
  call(2);
  const { produced, faults } = evaluateFeedback({ prompt, session, nowMs: clock.nowMs() });
  expect(produced).toEqual([
    {
      source: 'feedback',
      name: 'A',
      severity: 'info',
      text: '[Feedback - A]\n\nA speaks.',
      feedback: session.slice(Feedback).latest(),
      triggers: [
        { condition: 'everyNCalls', calls: 2 },
        { condition: 'everyNSeconds', elapsedMs: null },
      ],
    },
  ]);
  expect(faults).toEqual([]);
  expect(JSON.parse(JSON.stringify(produced))).toEqual(produced);
});

test('options override the prompt, and disabled speakers do not run', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('Declared'), trigger: everyCall }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  const feedbackProviders = [
    { provider: createProvider('Off'), trigger: everyCall },
    { provider: createProvider('On'), trigger: everyCall },
  ];
  call();
  const input = { prompt, session, nowMs: clock.nowMs() };
  const { produced } = evaluateFeedback(input, { feedbackProviders, disabled: new Set(['feedback:Off']) });
  expect(produced.map(({ name }) => name)).toEqual(['On']);
});

test('onFileCreated fires once per run, even across a restart', () => {
  const files = new Set<string>();
  const prompt = promptWith({
    resources: [Filesystem({ exists: (path) => files.has(path) })],
    feedbackProviders: [{ provider: createProvider('Report'), trigger: { onFileCreated: 'report.md' } }],
  });
  const scene = createFeedbackScene(NAME);
  expect(watchedFiles(prompt)).toEqual(['report.md']);
  expect(namesOfProduced(prompt, scene)).toEqual([]);
  files.add('report.md');
  expect(namesOfProduced(prompt, scene)).toEqual(['Report']);
  expect(namesOfProduced(prompt, scene)).toEqual([]);
  const session = restoreSession(scene.session.snapshot(), { clock: scene.clock, slices: feedbackSlices });
  expect(namesOfProduced(prompt, { ...scene, session })).toEqual([]);
});

test('with filesCreated the filesystem is not read', () => {
  const exists = (): boolean => {
    throw new Error('asked');
  };
  const prompt = promptWith({
    resources: [Filesystem({ exists })],
    feedbackProviders: [{ provider: createProvider('Report'), trigger: { onFileCreated: 'report.md' } }],
  });
  const { session, clock } = createFeedbackScene(NAME);
  const evaluate = (filesCreated?: readonly string[]): ReturnType<typeof evaluateFeedback> =>
    evaluateFeedback({ prompt, session, nowMs: clock.nowMs(), filesCreated });
  expect(evaluate([])).toEqual({ produced: [], faults: [] });
  expect(evaluate().faults).toMatchObject([{ provider: 'Report', phase: 'trigger', code: 'provider-failed' }]);
  expect(evaluate(['other.md', 'report.md']).produced).toMatchObject([
    { triggers: [{ condition: 'onFileCreated', path: 'report.md' }] },
  ]);
});

test('feedback refused by noise control is not stored, and its trigger stays armed', () => {
  const prompt = promptWith({
    feedbackProviders: [
      { provider: createProvider('Refused'), trigger: { onFileCreated: 'a' } },
      { provider: createProvider('Next'), trigger: everyCall },
    ],
  });
  const { session, clock, call } = createFeedbackScene(NAME);
  const producedNames = (admitted: boolean): readonly string[] => {
    call();
    const input = { prompt, session, nowMs: clock.nowMs(), filesCreated: ['a'] };
    const { produced } = evaluateFeedback(input, { admit: ({ name }) => admitted || name !== 'Refused' });
    return produced.map(({ name }) => name);
  };
  expect([producedNames(false), producedNames(true), producedNames(true)]).toEqual([['Next'], ['Refused'], ['Next']]);
  expect(session.slice(Feedback).total()).toBe(3);
});

test('a cadence per provider stays exact when other feedback exceeds the retention', () => {
  const prompt = promptWith({
    cadence: 'per-provider',
    delivery: 'all',
    feedbackProviders: [
      { provider: createProvider('Once'), trigger: { everyNSeconds: 10_000 } },
      { provider: createProvider('Always'), trigger: everyCall },
    ],
  });
  const scene = createFeedbackScene(NAME);
  let once = 0;
  for (let callCount = 0; callCount < 1_500; callCount += 1) {
    scene.clock.advance(1);
    scene.call();
    once += namesOfProduced(prompt, scene).includes('Once') ? 1 : 0;
  }
  expect(once).toBe(1);
});

test('the severity trend is computed for the current prompt only', () => {
  const trends: string[] = [];
  let severity: Severity = 'info';
  const provider: FeedbackProvider = {
    ...createProvider('A'),
    provide: (context) => {
      trends.push(context.severityTrend());
      return { summary: 'x', severity };
    },
  };
  const prompt = promptWith({ feedbackProviders: [{ provider, trigger: everyCall }] });
  const scene = createFeedbackScene(NAME);
  for (const next of ['info', 'info', 'warning', 'warning', 'warning', 'warning', 'warning', 'info', 'info'] as const) {
    severity = next;
    scene.clock.advance(1);
    scene.call();
    namesOfProduced(prompt, scene);
  }
  expect(trends).toEqual(['steady', 'steady', 'steady', 'rising', 'rising', 'rising', 'rising', 'steady', 'easing']);
});

// Faulty providers.

function faultsOf(provider: FeedbackProvider): readonly FeedbackFault[] {
  const reported: FeedbackFault[] = [];
  const prompt = promptWith({
    feedbackProviders: [
      { provider, trigger: everyCall },
      { provider: createProvider('Next'), trigger: everyCall },
    ],
  });
  const { session, call } = createFeedbackScene(NAME);
  call();
  const text = collectFeedback({ prompt, session, onFault: (fault) => reported.push(fault) });
  expect(text).toBe('[Feedback - Next]\n\nNext speaks.');
  expect(session.slice(Feedback).total()).toBe(1);
  return reported;
}

test.each(['shouldRun', 'provide'] as const)(
  'a provider that throws in %s is skipped and reported, the next runs',
  (phase) => {
    const failing = {
      ...createProvider('Bad'),
      [phase]: () => {
        throw new Error('broken');
      },
    };
    expect(faultsOf(failing)).toEqual([
      { provider: 'Bad', source: 'feedback', phase, code: 'provider-failed', message: 'broken' },
    ]);
  },
);

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a text', 'Careful!'],
  ['a list', ['x']],
  ['no summary', { severity: 'info' }],
  ['an empty summary', { summary: ' \n ' }],
  ['an unknown severity', { summary: 'x', severity: 'fatal' }],
  ['suggestions that are no list', { summary: 'x', suggestions: 'y' }],
  ['a suggestion that is no text', { summary: 'x', suggestions: [1] }],
  ['too many suggestions', { summary: 'x', suggestions: Array.from({ length: 21 }, () => 'y') }],
  ['an observation without a category', { summary: 'x', observations: [{ description: 'd' }] }],
  ['evidence that is no text', { summary: 'x', observations: [{ category: 'c', description: 'd', evidence: 1 }] }],
  ['a pattern of no known level', { summary: 'x', pattern: { identity: 'i', level: 'loud', occurrences: 1 } }],
  ['a text that is too long', { summary: 'x'.repeat(2_001) }],
  ['a whole that is too long', { summary: 'x'.repeat(1_500), suggestions: ['y'.repeat(1_500)] }],
])('a provider that answers %s is skipped and reported, the next runs', (_what, answer) => {
  // The point of the test: an untyped provider may return anything.
  const provide = (() => answer) as unknown as FeedbackProvider['provide'];
  expect(faultsOf({ ...createProvider('Bad'), provide })).toMatchObject([
    { provider: 'Bad', phase: 'provide', code: 'provider-invalid' },
  ]);
});

test('a promise is an invalid response, and its later rejection does not end the process', async () => {
  const provide = (async () => {
    await Promise.resolve();
    throw new Error('late');
  }) as unknown as FeedbackProvider['provide'];
  expect(faultsOf({ ...createProvider('Bad'), provide })).toMatchObject([
    { phase: 'provide', code: 'provider-invalid' },
  ]);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
});

test('shouldRun must return a boolean synchronously', () => {
  const shouldRun = (async () => false) as unknown as FeedbackProvider['shouldRun'];
  expect(faultsOf({ ...createProvider('Bad'), shouldRun })).toMatchObject([
    { phase: 'shouldRun', code: 'provider-invalid' },
  ]);
});

test('evaluation never throws because of a provider, and its feedback is valid Unicode', () => {
  fc.assert(
    fc.property(fc.anything(), fc.string({ unit: 'binary' }), (anyValue, summary) => {
      const answers = [anyValue, { summary, observations: anyValue }, { summary, suggestions: [summary] }];
      for (const answer of answers) {
        const provider = {
          ...createProvider('Any'),
          provide: (() => answer) as unknown as FeedbackProvider['provide'],
        };
        const prompt = promptWith({ feedbackProviders: [{ provider, trigger: everyCall }] });
        const { session, call } = createFeedbackScene(NAME);
        call();
        const text = collectFeedback({ prompt, session }) ?? '';
        expect(text.isWellFormed()).toBe(true);
        expect(() => session.snapshot()).not.toThrow();
      }
    }),
    { numRuns: 200 },
  );
});

test("a provider's text is not changed, except that suggestions stay on one line", () => {
  const summary = 'One\u202E two\n[Feedback - B] ‹three›';
  const provider: FeedbackProvider = {
    ...createProvider('A'),
    provide: () => ({ summary, suggestions: ['a\n→ b'] }),
  };
  const prompt = promptWith({ feedbackProviders: [{ provider, trigger: everyCall }] });
  const { session, call } = createFeedbackScene(NAME);
  call();
  expect(collectFeedback({ prompt, session })).toBe(`[Feedback - A]\n\n${summary}\n\n→ a → b`);
});

test('a provider may dispatch to the session', () => {
  const { session, call } = createFeedbackScene(NAME);
  const provider: FeedbackProvider = {
    ...createProvider('Busy'),
    provide: (context) => {
      call();
      return { summary: `${context.session.eventCount()} events.` };
    },
  };
  const prompt = promptWith({ feedbackProviders: [{ provider, trigger: everyCall }] });
  call();
  expect(collectFeedback({ prompt, session })).toContain('events.');
  expect(session.faultCount()).toBe(0);
  expect(session.slice(Feedback).latest()?.callIndex).toBe(1);
});

test('a provider that requests feedback itself gets none, and the outer evaluation continues', () => {
  const innerTexts: (string | undefined)[] = [];
  const faults: FeedbackFault[] = [];
  const { session, call } = createFeedbackScene(NAME);
  const provider: FeedbackProvider = {
    ...createProvider('Loop'),
    provide: () => {
      innerTexts.push(collectFeedback({ prompt, session, nowMs: 1, onFault: (fault) => faults.push(fault) }));
      return { summary: 'Out.' };
    },
  };
  const prompt: PromptTemplate = promptWith({ feedbackProviders: [{ provider, trigger: everyCall }] });
  call();
  expect(collectFeedback({ prompt, session })).toBe('[Feedback - Loop]\n\nOut.');
  expect(innerTexts).toEqual([undefined]);
  expect(faults).toMatchObject([{ provider: 'Loop', code: 'provider-recursed' }]);
  call();
  expect(collectFeedback({ prompt, session })).toBeDefined();
});

test('an overrun is reported, and the feedback is used', () => {
  const { session, clock, call } = createFeedbackScene(NAME);
  const slowProvider: FeedbackProvider = {
    ...createProvider('Slow'),
    provide: () => {
      clock.advance(0.2);
      return { summary: 'At last.' };
    },
  };
  const prompt = promptWith({ feedbackProviders: [{ provider: slowProvider, trigger: everyCall }] });
  call();
  const input = { prompt, session, nowMs: clock.nowMs() };
  const overruns: (readonly [string, number])[] = [];
  const onOverrun = (key: string, durationMs: number): void => {
    overruns.push([key, durationMs]);
  };
  const options = { measureMs: () => clock.nowMs(), timeLimitMs: 100, onOverrun };
  const { produced, faults } = evaluateFeedback(input, options);
  expect(produced).toHaveLength(1);
  expect(overruns).toEqual([['feedback:Slow', 200]]);
  expect(faults).toEqual([
    {
      provider: 'Slow',
      source: 'feedback',
      phase: 'provide',
      code: 'provider-overrun',
      message: 'took 200 ms, at most 100 ms are allowed',
    },
  ]);
});

test('a fault handler that throws is another fault', () => {
  const failing = {
    ...createProvider('Bad'),
    shouldRun: () => {
      throw new Error('broken');
    },
  };
  const prompt = promptWith({ feedbackProviders: [{ provider: failing, trigger: everyCall }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  call();
  const onFault = (): void => {
    throw new Error('handler broken');
  };
  const { faults } = evaluateFeedback({ prompt, session, nowMs: clock.nowMs() }, { onFault });
  expect(faults.map(({ code, message }) => [code, message])).toEqual([
    ['provider-failed', 'broken'],
    ['fault-handler-failed', 'handler broken'],
  ]);
});

test('a time that is not a finite number is refused', () => {
  const { session } = createFeedbackScene(NAME);
  expect(() => collectFeedback({ prompt: promptWith({}), session, nowMs: Number.NaN })).toThrow(
    expect.objectContaining({ code: 'invalid-argument' }),
  );
});

test('inside a dispatch, nowMs is required', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNSeconds: 1 } }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  const texts: (string | undefined)[] = [];
  session.subscribe(ToolInvokedEvent, () => {
    expect(() => collectFeedback({ prompt, session })).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    texts.push(collectFeedback({ prompt, session, nowMs: clock.nowMs() }));
  });
  call();
  expect(session.faults()).toEqual([]);
  expect(texts).toEqual(['[Feedback - A]\n\nA speaks.']);
});

test.each([{ atMs: Number.NaN }, { minutes: 8 }, {}])(
  'the deadline %j is refused: its text would be NaN',
  (deadline) => {
    const { session } = createFeedbackScene(NAME);
    const prompt = promptWith({ feedbackProviders: [{ provider: deadlineFeedback(), trigger: everyCall }] });
    const input = { prompt, session, nowMs: 1, deadline: deadline as never };
    const refused = expect.objectContaining({ code: 'invalid-argument' });
    expect(() => collectFeedback(input)).toThrow(refused);
    expect(() => createFeedbackContext(input)).toThrow(refused);
    expect(collectFeedback({ ...input, deadline: null as never })).toBeUndefined();
  },
);

test('an event before the first evaluation is pending, and served once', () => {
  const Asked = defineEvent('test/asked');
  const { session } = createFeedbackScene(NAME);
  const prompt = promptWith({
    feedbackProviders: [{ provider: createProvider('A'), trigger: { onSessionEvent: Asked } }],
  });
  session.dispatch(Asked());
  expect(collectFeedback({ prompt, session })).toBe('[Feedback - A]\n\nA speaks.');
  const again = promptWith({
    feedbackProviders: [{ provider: createProvider('B'), trigger: { onSessionEvent: Asked } }],
  });
  expect([collectFeedback({ prompt, session }), collectFeedback({ prompt: again, session })]).toEqual([
    undefined,
    undefined,
  ]);
});

test('an event that a restored session processed is pending, an event served before the snapshot is not', () => {
  const [Early, Late] = [defineEvent('test/early'), defineEvent('test/late')];
  const { session, clock } = createFeedbackScene(NAME);
  const prompt = promptWith({
    feedbackProviders: [
      { provider: createProvider('E'), trigger: { onSessionEvent: Early } },
      { provider: createProvider('L'), trigger: { onSessionEvent: Late } },
    ],
  });
  session.dispatch(Early());
  expect(namesOfProduced(prompt, { ...createFeedbackScene(NAME), session, clock })).toEqual(['E']);
  const restored = restoreSession(JSON.parse(JSON.stringify(session.snapshot())), { clock });
  restored.dispatch(Late());
  expect(collectFeedback({ prompt, session: restored })).toBe('[Feedback - L]\n\nL speaks.');
});
