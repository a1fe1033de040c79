import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GuidanceProvider, GuidanceProviderConfig } from '../prompt/guidance-provider.ts';
import { guidanceContext, sayingProvider } from '../../../../test/support/guidance-script.ts';
import { EMPTY_GUIDANCE_STATE, evaluateGuidance, type GuidanceEvaluation } from './evaluate-guidance.ts';
import { type GuidanceState } from './guidance-slices.ts';

const evaluate = (
  configs: readonly GuidanceProviderConfig[],
  turnCount = 1,
  state: GuidanceState = EMPTY_GUIDANCE_STATE,
): GuidanceEvaluation => evaluateGuidance(configs, guidanceContext({ turnCount }), state);

const keys = (evaluation: GuidanceEvaluation): readonly string[] =>
  evaluation.produced.map((item) => item.injection.key);
const reasons = (evaluation: GuidanceEvaluation): readonly string[] =>
  evaluation.skipped.map((skip) => `${skip.providerName}: ${skip.reason}`);

test('a provider whose cooldown runs is silent for the rest of its turn and that many turns more', () => {
  const config = { provider: sayingProvider('a'), cooldownTurns: 2 };
  let state = EMPTY_GUIDANCE_STATE;
  const spoke = [1, 1, 2, 3, 4, 5].map((turn) => {
    const evaluation = evaluate([config], turn, state);
    state = evaluation.state;
    return evaluation.produced.length === 1;
  });
  expect(spoke).toEqual([true, false, false, false, true, false]);
  expect(reasons(evaluate([config], 5, state))).toEqual(['a: cooldown']);
});

test('maxPerRun ends a provider for the run', () => {
  const config = { provider: sayingProvider('a'), maxPerRun: 2 };
  let state = EMPTY_GUIDANCE_STATE;
  const spoke = [1, 2, 3].map((turn) => {
    const evaluation = evaluate([config], turn, state);
    state = evaluation.state;
    return evaluation.produced.length;
  });
  expect(spoke).toEqual([1, 1, 0]);
  expect(reasons(evaluate([config], 9, state))).toEqual(['a: max-per-run']);
});

test('a provider at its limit leaves its category and its place in the turn to others', () => {
  const limited = { provider: sayingProvider('a', { priority: 1, category: 'x' }), maxPerTurn: 1 };
  const other = { provider: sayingProvider('b', { priority: 2, category: 'x' }) };
  const first = evaluate([limited, other]);
  expect([keys(first), reasons(first)]).toEqual([['a'], ['b: same-category']]);
  const second = evaluate([limited, other], 1, first.state);
  expect([keys(second), reasons(second)]).toEqual([['b'], ['a: max-per-turn']]);
});

test('the limit per turn of all providers is three by default', () => {
  const configs = ['a', 'b', 'c', 'd'].map((name) => ({ provider: sayingProvider(name) }));
  const evaluation = evaluate(configs);
  expect([keys(evaluation), reasons(evaluation)]).toEqual([['a', 'b', 'c'], ['d: turn-full']]);
  expect(keys(evaluate(configs, 1, evaluation.state))).toEqual([]);
  expect(keys(evaluate(configs, 2, evaluation.state))).toEqual(['a', 'b', 'c']);
  const options = { maxGuidancePerTurn: 1 };
  expect(keys(evaluateGuidance(configs, guidanceContext(), EMPTY_GUIDANCE_STATE, options))).toEqual(['a']);
});

test('a draft without priority and category gets 100 and the provider’s category', () => {
  const provider: GuidanceProvider = { ...sayingProvider('a'), provide: () => ({ key: 'k', content: 'text' }) };
  expect(evaluate([{ provider }]).produced[0]?.injection).toEqual({
    key: 'k',
    content: 'text',
    priority: 100,
    category: 'a',
  });
});

test('invalid guidance at run time is a skip, not a fault', () => {
  const providing = (draft: ReturnType<GuidanceProvider['provide']>): GuidanceProviderConfig => ({
    provider: { ...sayingProvider('p'), provide: () => draft },
  });
  const cases: readonly (readonly [ReturnType<GuidanceProvider['provide']>, string])[] = [
    [{ key: 'Bad Key', content: 'x' }, 'invalid-key'],
    [{ key: 'k', content: '' }, 'invalid-content'],
    [{ key: 'k', content: 'x'.repeat(501) }, 'invalid-content'],
    [{ key: 'k', content: 'x', priority: 0.5 }, 'invalid-priority'],
    [{ key: 'k', content: 'x', category: '' }, 'invalid-category'],
    [undefined, 'nothing-provided'],
  ];
  for (const [draft, reason] of cases) {
    const evaluation = evaluate([providing(draft)]);
    expect([reasons(evaluation), evaluation.faults, evaluation.produced]).toEqual([[`p: ${reason}`], [], []]);
  }
});

const throwing = (thrown: unknown) => (): never => {
  throw thrown;
};

test('an exception or an invalid result is a fault, and the next provider runs', () => {
  const base = sayingProvider('bad');
  // JavaScript callers may return anything.
  const returning = (value: unknown) => (): never => value as never;
  const hostile = { toString: throwing(new Error('no text')) };
  const getter = Object.defineProperty({ relevant: true }, 'confidence', { get: throwing(new Error('trap')) });
  const cases: readonly (readonly [Partial<GuidanceProvider>, string])[] = [
    [{ classify: throwing(new Error('boom')) }, 'classify provider-failed'],
    [{ classify: throwing(hostile) }, 'classify provider-failed'],
    [{ classify: returning(getter) }, 'classify provider-failed'],
    [{ classify: returning(undefined) }, 'classify provider-invalid'],
    [{ classify: returning(Promise.reject(new Error('late'))) }, 'classify provider-invalid'],
    [{ classify: returning({ relevant: 'yes', confidence: 1 }) }, 'classify provider-invalid'],
    [{ classify: returning({ relevant: true, confidence: Number.NaN }) }, 'classify provider-invalid'],
    [{ classify: returning({ relevant: true, confidence: 1.1 }) }, 'classify provider-invalid'],
    [{ classify: returning({ relevant: true, confidence: 1, pattern: 'x' }) }, 'classify provider-invalid'],
    [{ provide: throwing(new Error('boom')) }, 'provide provider-failed'],
    [{ provide: returning('text') }, 'provide provider-invalid'],
    [{ provide: returning({ key: 1, content: 'x' }) }, 'provide provider-invalid'],
    [{ provide: returning({ key: 'k', content: 'x', priority: '1' }) }, 'provide provider-invalid'],
    [{ classify: returning(undefined), name: '' }, 'config provider-misconfigured'],
  ];
  for (const [members, expected] of cases) {
    const evaluation = evaluate([{ provider: { ...base, ...members } }, { provider: sayingProvider('good') }]);
    expect(evaluation.faults.map(({ phase, code }) => `${phase} ${code}`)).toEqual([expected]);
    expect(keys(evaluation)).toEqual(['good']);
    expect(JSON.parse(JSON.stringify(evaluation))).toEqual(evaluation);
  }
});

test('a value that is not a configuration is a fault too', () => {
  // JavaScript callers may pass anything.
  const junk = [null, undefined, {}, { provider: null }] as unknown as readonly GuidanceProviderConfig[];
  expect(evaluate(junk).faults.map(({ phase, code }) => `${phase} ${code}`)).toEqual(
    Array(4).fill('config provider-misconfigured'),
  );
});

test('admit is called last, and items it refuses are not counted', () => {
  const configs = ['a', 'b', 'c'].map((name) => ({
    provider: sayingProvider(name, { category: name === 'b' ? 'a' : name }),
  }));
  const names: string[] = [];
  const evaluation = evaluateGuidance(configs, guidanceContext(), EMPTY_GUIDANCE_STATE, {
    maxGuidancePerTurn: 1,
    admit(item) {
      names.push(item.providerName);
      return item.providerName !== 'a';
    },
  });
  expect([names, keys(evaluation)]).toEqual([['a', 'b'], ['b']]);
  expect(reasons(evaluation)).toEqual(['a: not-admitted', 'c: turn-full']);
  expect(Object.keys(evaluation.state.providers)).toEqual(['b']);
});

test('the guidance of a slow provider is used and the overrun reported; a disabled provider does not run', () => {
  let nowMs = 0;
  const slow: GuidanceProvider = {
    ...sayingProvider('slow'),
    classify() {
      nowMs += 51;
      return { relevant: true, confidence: 1 };
    },
  };
  const configs = [{ provider: slow }, { provider: sayingProvider('fast') }];
  const overran: unknown[] = [];
  const options = { measureMs: () => nowMs, onOverrun: (...told: readonly unknown[]) => overran.push(told) };
  const evaluation = evaluateGuidance(configs, guidanceContext(), EMPTY_GUIDANCE_STATE, options);
  expect([keys(evaluation), overran]).toEqual([['slow', 'fast'], [['guidance:slow', 51]]]);
  const disabled = new Set(['guidance:slow']);
  expect(keys(evaluateGuidance(configs, guidanceContext(), EMPTY_GUIDANCE_STATE, { disabled }))).toEqual(['fast']);
});

interface Declared {
  readonly name: string;
  readonly priority: number;
  readonly category: string;
  readonly confidence: number;
  readonly maxPerTurn: number;
  readonly cooldownTurns: number;
  readonly maxPerRun: number;
}

const declared: fc.Arbitrary<Declared> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  priority: fc.integer({ min: 0, max: 3 }),
  category: fc.constantFrom('x', 'y', 'z'),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  maxPerTurn: fc.integer({ min: 1, max: 3 }),
  cooldownTurns: fc.integer({ min: 0, max: 2 }),
  maxPerRun: fc.integer({ min: 1, max: 5 }),
});
const providers = fc.uniqueArray(declared, { selector: (one) => one.name, maxLength: 5 });
const turns = fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 30 });

const configsOf = (given: readonly Declared[]): readonly GuidanceProviderConfig[] =>
  given.map(({ name, priority, category, confidence, ...config }) => ({
    provider: sayingProvider(name, { priority, category, confidence }),
    ...config,
  }));

test('guidance is ordered by priority, then declaration, one per category, and no limit is exceeded', () => {
  fc.assert(
    fc.property(providers, turns, fc.integer({ min: 1, max: 4 }), (given, advances, maxGuidancePerTurn) => {
      let state = EMPTY_GUIDANCE_STATE;
      let turnCount = 0;
      const items: { readonly name: string; readonly turn: number }[] = [];
      for (const advance of advances) {
        turnCount += advance;
        const context = guidanceContext({ turnCount });
        const { produced, state: next } = evaluateGuidance(configsOf(given), context, state, { maxGuidancePerTurn });
        state = next;
        const places = produced.map((item) => given.findIndex((one) => one.name === item.providerName));
        const order = produced.map((item, index) => item.injection.priority * 10 + (places[index] ?? 0));
        expect(order).toEqual(order.toSorted((one, other) => one - other));
        expect(new Set(produced.map((item) => item.injection.category)).size).toBe(produced.length);
        items.push(...produced.map((item) => ({ name: item.providerName, turn: turnCount })));
      }
      for (let turn = 0; turn <= turnCount; turn += 1) {
        expect(items.filter((one) => one.turn === turn).length).toBeLessThanOrEqual(maxGuidancePerTurn);
      }
      for (const { name, maxPerTurn, maxPerRun, confidence, cooldownTurns } of given) {
        const own = items.filter((one) => one.name === name).map((one) => one.turn);
        expect(own.length).toBeLessThanOrEqual(confidence < 0.5 ? 0 : maxPerRun);
        for (const turn of own) expect(own.filter((one) => one === turn).length).toBeLessThanOrEqual(maxPerTurn);
        const pauses = own.slice(1).map((turn, index) => turn - (own[index] ?? 0));
        expect(Math.min(...pauses)).toBeGreaterThan(cooldownTurns === 0 ? -1 : cooldownTurns);
      }
    }),
  );
});

test('a state that was serialised half-way changes nothing', () => {
  const run = (given: readonly Declared[], advances: readonly number[], cut: number): readonly unknown[] => {
    let state = EMPTY_GUIDANCE_STATE;
    let turnCount = 0;
    return advances.map((advance, index) => {
      turnCount += advance;
      if (index === cut) state = JSON.parse(JSON.stringify(state)) as GuidanceState;
      const evaluation = evaluate(configsOf(given), turnCount, state);
      state = evaluation.state;
      return evaluation;
    });
  };
  fc.assert(
    fc.property(providers, turns, fc.nat(30), (given, advances, cut) => {
      expect(run(given, advances, cut)).toEqual(run(given, advances, -1));
    }),
  );
});
