import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GuidanceInjection } from '../../records/spoken-advice.ts';
import { injectionProblem } from '../feedback/check-draft.ts';
import { defineGuidance, type GuidanceDefinition, guidanceBank, type BankInstruction } from './define-guidance.ts';
import { consultationPrompt, diagnosticSignal } from './built-in-guidance.ts';
import { errorStreak } from './classifier.ts';
import { checkGuidanceConfigs, type GuidanceProviderConfig } from '../prompt/guidance-provider.ts';
import { sayingProvider } from '../../../../test/support/guidance-script.ts';

const refused = expect.objectContaining({ code: 'invalid-definition' });
const good: GuidanceInjection = { key: 'a', content: 'Do this.', priority: 1, category: 'c' };

test('a key has 1 to 64 of a-z, 0-9, dot, underscore and hyphen, starting with a letter or digit', () => {
  const problem = (key: string): string | undefined => injectionProblem({ ...good, key });
  expect(['a', '0.a_b-c', 'a'.repeat(64)].map(problem)).toEqual([undefined, undefined, undefined]);
  for (const key of ['', 'A', '.a', '-a', 'a b', 'a'.repeat(65), 'a\n', 'ä']) expect(problem(key)).toBe('invalid-key');
});

test('a content has 1 to 500 characters, counted as code points', () => {
  const problem = (content: string): string | undefined => injectionProblem({ ...good, content });
  expect(problem('')).toBe('invalid-content');
  expect(problem('x'.repeat(500))).toBeUndefined();
  expect(problem('x'.repeat(501))).toBe('invalid-content');
  expect(problem('😀'.repeat(500))).toBeUndefined();
  expect(problem('😀'.repeat(501))).toBe('invalid-content');
});

test('a priority is a whole number and a category is not empty', () => {
  expect(injectionProblem({ ...good, priority: -5 })).toBeUndefined();
  expect(injectionProblem({ ...good, priority: 1.5 })).toBe('invalid-priority');
  expect(injectionProblem({ ...good, category: '' })).toBe('invalid-category');
});

test('a bank is checked on definition and has only its own ids', () => {
  const bank = guidanceBank({
    'run-tests': { content: 'Run the tests.', category: 'testing', priority: 5 },
    pause: { content: 'Pause.', category: 'pace' },
  });
  expect(bank.get('run-tests')).toEqual({
    key: 'run-tests',
    content: 'Run the tests.',
    category: 'testing',
    priority: 5,
  });
  expect(bank.get('pause')?.priority).toBe(100);
  expect(['toString', '__proto__', 'RUN-TESTS', ''].map((id) => bank.get(id))).toEqual(Array(4).fill(undefined));
  const wrong: readonly Readonly<Record<string, BankInstruction>>[] = [
    {},
    { 'Bad Id': { content: 'x', category: 'c' } },
    { a: { content: '', category: 'c' } },
    { a: { content: 'x'.repeat(501), category: 'c' } },
    { a: { content: 'x', category: '' } },
    { a: { content: 'x', category: 'c', priority: 0.5 } },
  ];
  for (const instructions of wrong) expect(() => guidanceBank(instructions)).toThrow(refused);
});

test('a provider with a fixed text is checked on definition', () => {
  const definition: GuidanceDefinition = {
    name: 'mine',
    category: 'c',
    classifier: errorStreak(),
    key: 'mine.key',
    content: 'Do this.',
  };
  expect(defineGuidance(definition).name).toBe('mine');
  expect(() => defineGuidance({ ...definition, key: 'My Key' })).toThrow(refused);
  expect(() => defineGuidance({ ...definition, content: '' })).toThrow(refused);
  expect(() => defineGuidance({ ...definition, priority: Number.NaN })).toThrow(refused);
});

test('a tool name that cannot stand in a sentence is refused by the built-in providers', () => {
  for (const name of ['', 'a b', 'x`y', '<tool>', 'a\u202Eb', 'x'.repeat(129)]) {
    expect(() => diagnosticSignal({ logToolName: name })).toThrow(refused);
    expect(() => consultationPrompt({ consultationTool: name })).toThrow(refused);
  }
});

test('a configuration out of range is refused', () => {
  const provider = sayingProvider('p');
  checkGuidanceConfigs([{ provider, maxPerTurn: 1, minConfidence: 0, cooldownTurns: 0, maxPerRun: 1 }]);
  // JavaScript callers may pass anything.
  const junk = { name: 'p', category: 'c' } as unknown as GuidanceProviderConfig['provider'];
  const nowhere = ['nowhere'] as unknown as NonNullable<GuidanceProviderConfig['decisionPoints']>;
  const wrong: readonly GuidanceProviderConfig[] = [
    { provider, maxPerTurn: 0 },
    { provider, minConfidence: 1.01 },
    { provider, cooldownTurns: -1 },
    { provider, maxPerRun: 0 },
    { provider, decisionPoints: nowhere },
    { provider: { ...provider, name: '' } },
    { provider: { ...provider, category: 'x'.repeat(65) } },
    { provider: junk },
  ];
  for (const config of wrong) expect(() => checkGuidanceConfigs([config])).toThrow(refused);
});

test('only keys of the documented shape pass', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 70 }), (key) => {
      expect(injectionProblem({ ...good, key }) === undefined).toBe(/^[a-z0-9][a-z0-9._-]{0,63}$/.test(key));
    }),
  );
});
