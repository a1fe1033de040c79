import { expect, test } from 'vitest';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { createSession, restoreSession } from '../../session/create-session.ts';
import { createFakeClock } from '../../../testing/fake-clock.ts';
import { guidanceContext, sayingProvider } from '../../../../test/support/guidance-script.ts';
import { collectGuidance, formatGuidance } from './evaluate-guidance.ts';
import { GuidanceDelivered, GuidanceFaults, SkippedGuidances } from './guidance-slices.ts';

test('guidance of the prompt is collected, joined with blank lines and recorded in the session', () => {
  const providers = [
    { provider: sayingProvider('b', { priority: 2 }) },
    { provider: sayingProvider('a', { priority: 1 }) },
  ];
  const context = guidanceContext({ providers, decisionPoint: 'pre_tool_execution' });
  const guidance = collectGuidance(context);
  expect(formatGuidance(guidance)).toBe('a says so\n\nb says so');
  expect(context.session.slice(GuidanceDelivered).all()).toMatchObject([
    { providerName: 'a', delivered: true, channel: 'host', decisionPoint: 'pre_tool_execution', atMs: context.nowMs },
    { providerName: 'b', injection: guidance[1] },
  ]);
});

test('without guidance there is no text and no event', () => {
  const context = guidanceContext();
  expect(formatGuidance(collectGuidance(context))).toBeUndefined();
  expect(context.session.eventCount()).toBe(0);
});

test('the option sets the decision point that providers see', () => {
  const seen: string[] = [];
  const provider: GuidanceProvider = {
    ...sayingProvider('a'),
    classify: ({ decisionPoint }) => {
      seen.push(decisionPoint);
      return { relevant: false, confidence: 0 };
    },
  };
  collectGuidance(guidanceContext({ providers: [{ provider }] }), { decisionPoint: 'pre_response' });
  expect(seen).toEqual(['pre_response']);
});

test('an unknown decision point is an error of the caller', () => {
  // JavaScript callers may pass the name of another language.
  const options = { decisionPoint: 'PRE_RENDER' as never };
  expect(() => collectGuidance(guidanceContext(), options)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining('pre_render') as string }),
  );
});

test('a reason of null is no reason', () => {
  const provider = {
    ...sayingProvider('a'),
    classify: () => ({ relevant: true, confidence: 1, reason: null as never }),
  };
  const context = guidanceContext({ providers: [{ provider }] });
  expect(collectGuidance(context)).toHaveLength(1);
  expect(context.session.slice(GuidanceDelivered).latest()?.classification).toEqual({ relevant: true, confidence: 1 });
});

test('limits are kept in the session, even across a snapshot', () => {
  const clock = createFakeClock();
  const providers = [{ provider: sayingProvider('a'), maxPerRun: 2 }];
  const session = createSession({ clock });
  const count = (given = session): number => collectGuidance(guidanceContext({ providers, session: given })).length;
  expect([count()]).toEqual([1]);
  const restored = restoreSession(JSON.parse(JSON.stringify(session.snapshot())), { clock });
  expect([count(restored), count(restored)]).toEqual([1, 0]);
  expect(restored.slice(SkippedGuidances).latest()).toMatchObject({ providerName: 'a', reason: 'max-per-run' });
});

test('an exception leaves a fault in the session, and the next provider runs', () => {
  const bad: GuidanceProvider = {
    ...sayingProvider('bad'),
    classify() {
      throw new Error('boom');
    },
  };
  const context = guidanceContext({ providers: [{ provider: bad }, { provider: sayingProvider('good') }] });
  expect(collectGuidance(context).map((one) => one.key)).toEqual(['good']);
  expect(context.session.slice(GuidanceFaults).all()).toEqual([
    { provider: 'bad', phase: 'classify', code: 'provider-failed', message: 'boom' },
  ]);
});

test('a provider that collects guidance itself gets none, and that is a fault', () => {
  const recursive = (name: string): GuidanceProvider => ({
    ...sayingProvider(name),
    classify(context) {
      expect(collectGuidance(context)).toEqual([]);
      return { relevant: true, confidence: 1 };
    },
  });
  const context = guidanceContext({ providers: ['a', 'b'].map((name) => ({ provider: recursive(name) })) });
  expect(collectGuidance(context)).toHaveLength(2);
  expect(
    context.session
      .slice(GuidanceFaults)
      .all()
      .map(({ code }) => code),
  ).toEqual(['provider-recursed', 'provider-recursed']);
  expect(collectGuidance(guidanceContext({ session: context.session }))).toEqual([]);
  expect(context.session.slice(GuidanceFaults).total()).toBe(2);
});
