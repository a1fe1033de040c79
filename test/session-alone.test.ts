import { expect, test } from 'vitest';
import {
  callOf,
  collectFeedback,
  collectGuidance,
  consultationPrompt,
  createGuidanceContext,
  createSession,
  definePrompt,
  diagnosticSignal,
  doomLoopGuidance,
  errorCascadeFeedback,
  evaluateGuidance,
  EMPTY_GUIDANCE_STATE,
  Feedback,
  formatGuidance,
  parallelToolReminder,
  patternFeedback,
  renderFeedback,
  ToolInvoked,
  toolInvoked,
  type FeedbackProvider,
  type GuidanceProvider,
  type Session,
} from '../src/index.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';

const session = (): Session => createSession({ clock: createFakeClock() });

interface Call {
  readonly name?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly success?: boolean;
}

function dispatch(to: Session, calls: readonly Call[]): Session {
  for (const [
    at,
    { name = 'read_file', params = { path: `f${at}` }, result = `text ${at}`, ...rest },
  ] of calls.entries()) {
    to.dispatch(toolInvoked({ name, params, result, ...rest }));
  }
  return to;
}

const failing: readonly Call[] = Array.from({ length: 6 }, () => ({
  name: 'bash',
  params: { command: 'make' },
  result: 'make: *** No rule to make target. Stop.',
  success: false,
}));

function says(provider: GuidanceProvider, calls: readonly Call[]): string | undefined {
  const prompt = definePrompt({ ns: 'a', key: 'b', guidanceProviders: [{ provider, minConfidence: 0 }] });
  const [point = 'pre_tool_selection'] = provider.decisionPoints ?? [];
  const context = createGuidanceContext(dispatch(session(), calls), { prompt, decisionPoint: point });
  return formatGuidance(collectGuidance(context));
}

test.each<readonly [string, GuidanceProvider, readonly Call[]]>([
  ['diagnosticSignal', diagnosticSignal({ errorThreshold: 3, logToolName: 'view_logs' }), failing],
  ['doomLoopGuidance', doomLoopGuidance(), failing],
  ['consultationPrompt', consultationPrompt({ failureThreshold: 5, consultationTool: 'request_review' }), failing],
  ['parallelToolReminder', parallelToolReminder({ sequentialThreshold: 3 }), Array.from({ length: 6 }, () => ({}))],
])('%s speaks with a session alone, and is silent before there is a reason', (_, provider, calls) => {
  expect(says(provider, calls.slice(0, 1))).toBeUndefined();
  expect(says(provider, calls)).toContain(' ');
});

test('evaluateGuidance is there for a host that keeps its own counts', () => {
  const provider = diagnosticSignal({ errorThreshold: 3 });
  const context = createGuidanceContext(dispatch(session(), failing), { decisionPoint: 'pre_tool_selection' });
  const { produced } = evaluateGuidance([{ provider }], context, EMPTY_GUIDANCE_STATE);
  expect(produced.map(({ providerName }) => providerName)).toEqual([provider.name]);
});

test('feedback about patterns speaks with a session alone', () => {
  for (const provider of [patternFeedback(), errorCascadeFeedback()]) {
    const feedbackProviders = [{ provider, trigger: { everyNCalls: 1 } }];
    const prompt = definePrompt({ ns: 'a', key: 'b', feedbackProviders });
    const calls = failing.map((call, index) => ({ ...call, name: index < 4 ? 'read_file' : 'list_files' }));
    expect(collectFeedback({ prompt, session: dispatch(session(), calls) })).toContain('[Feedback - ');
  }
});

test('calls with long arguments that differ are no repetition', () => {
  const long = Array.from({ length: 6 }, (_, at) => ({
    name: 'write_file',
    params: { path: 'a.ts', content: `${'x'.repeat(5_000)}${at}` },
    result: `${'y'.repeat(900)} ${'z'.repeat(900)}${at}`,
  }));
  const same = long.map(() => long[0] ?? {});
  const stuck = (calls: readonly Call[]): boolean =>
    createGuidanceContext(dispatch(session(), calls))
      .trajectory.patterns()
      .some((pattern) => pattern.stuck);
  expect([stuck(long), stuck(same)]).toEqual([false, true]);
});

test('a provider sees what was called, about what, and how it ended', () => {
  const made = dispatch(session(), [
    {
      name: 'edit_file',
      params: { content: 'long '.repeat(4_000), path: 'src/a.ts' },
      result: `${'begins '.repeat(100)}\npermission denied: ends here`,
      success: false,
    },
  ]);
  const [call] = createGuidanceContext(made).recentCalls(1);
  expect(call).toMatchObject({ tool: 'edit_file', target: 'src/a.ts', failed: true, cause: 'permission' });
  expect(call?.args).toMatchObject({ path: 'src/a.ts' });
  expect(call?.result).toMatch(/^begins .*….*ends here$/s);
  expect(JSON.stringify(call).length).toBeLessThan(1_500);
  expect(made.slice(ToolInvoked).all().map(callOf)).toEqual([call]);
});

test('a provider that counts edits of one file takes ten lines', () => {
  const edits: FeedbackProvider = {
    name: 'Edits',
    shouldRun: (context) => context.recentCalls(20).filter(({ target }) => target === 'src/a.ts').length >= 5,
    provide: () => ({ summary: 'You have edited src/a.ts five times.' }),
  };
  const feedbackProviders = [{ provider: edits, trigger: { everyNCalls: 1 } }];
  const prompt = definePrompt({ ns: 'a', key: 'b', feedbackProviders });
  const params = { path: 'src/a.ts', old: 'a', new: 'b' };
  const calls = Array.from({ length: 5 }, () => ({ name: 'edit_file', params }));
  expect(collectFeedback({ prompt, session: dispatch(session(), calls.slice(1)) })).toBeUndefined();
  expect(collectFeedback({ prompt, session: dispatch(session(), calls) })).toContain('five times');
});

test('a call without success counts as a success', () => {
  expect(dispatch(session(), [{}]).slice(ToolInvoked).latest()).toMatchObject({ success: true });
});

test('a trigger of 0 never fires', () => {
  const provider: FeedbackProvider = { name: 'Never', shouldRun: () => true, provide: () => ({ summary: 'So.' }) };
  const feedbackProviders = [{ provider, trigger: { everyNCalls: 0, everyNSeconds: 0 } }];
  const prompt = definePrompt({ ns: 'a', key: 'b', feedbackProviders });
  expect(collectFeedback({ prompt, session: dispatch(session(), failing) })).toBeUndefined();
});

test('feedback is rendered with the defaults of what it leaves out', () => {
  expect(renderFeedback({ providerName: 'Own', summary: 'So.' })).toBe('[Feedback - Own]\n\nSo.');
});

test('what lies in a slice cannot be changed from outside', () => {
  const made = dispatch(session(), failing);
  const provider: FeedbackProvider = { name: 'Own', shouldRun: () => true, provide: () => ({ summary: 'So.' }) };
  const feedbackProviders = [{ provider, trigger: { everyNCalls: 1 } }];
  collectFeedback({ prompt: definePrompt({ ns: 'a', key: 'b', feedbackProviders }), session: made });
  const items = [
    made.slice(ToolInvoked).latest(),
    made.slice(Feedback).latest(),
    made.slice(Feedback).latest()?.observations,
  ];
  expect(items.map((item) => Object.isFrozen(item))).toEqual([true, true, true]);
});
