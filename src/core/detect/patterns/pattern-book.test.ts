import { expect, test } from 'vitest';
import { PatternBook } from './pattern-book.ts';
import type { Sighting, StepContext } from './pattern-detector.ts';
import { makeStep, type Step } from './step.ts';

function stepAt(index: number, result = 'text to read'): Step {
  const call = { index, turn: index, atMs: 0, tool: 'read', args: { index }, isError: false, resultMissing: false };
  return makeStep({ ...call, result }, {});
}

function contextAt(ordinal: number, novel: boolean): StepContext {
  return { epoch: 0, advanced: false, novel, ordinal, task: undefined, userMessages: 0 };
}

const SEEN: Sighting = {
  kind: 'loop',
  key: 'k',
  stuck: true,
  level: 'warn',
  confidence: 0.75,
  occurrences: 3,
  evidence: [0, 1, 2],
};

test('a level only rises, and only a rise is a change', () => {
  const book = new PatternBook();
  const see = (index: number, level: Sighting['level']): readonly string[] =>
    book.observe(stepAt(index), contextAt(index, false), [{ ...SEEN, level }]).map((change) => change.type);
  expect(see(2, 'hint')).toEqual(['noticed']);
  expect(see(3, 'warn')).toEqual(['raised']);
  expect(see(4, 'hint')).toEqual([]);
  expect(see(5, 'strong')).toEqual(['raised']);
  expect(book.open()).toMatchObject([{ level: 'strong', flaggedAt: 3, firstSeen: 0, identity: 'loop:k' }]);
});

test('a hint is not flagged', () => {
  const book = new PatternBook();
  book.observe(stepAt(1), contextAt(1, false), [{ ...SEEN, level: 'hint' }]);
  expect(book.all()).toMatchObject([{ flaggedAt: null }]);
});

test('three new things clear a pattern, repeats do not', () => {
  const book = new PatternBook();
  book.observe(stepAt(2), contextAt(2, false), [SEEN]);
  for (const [index, novel] of [true, false, true].entries()) book.observe(stepAt(3 + index), contextAt(3, novel), []);
  expect(book.open().length).toBe(1);
  const changes = book.observe(stepAt(6), contextAt(6, true), []);
  expect(changes).toMatchObject([{ type: 'cleared', pattern: { clearedAt: 6 } }]);
});

test('twelve quiet steps clear a pattern, failures among them or not', () => {
  const book = new PatternBook();
  book.observe(stepAt(0), contextAt(0, false), [SEEN]);
  for (let at = 1; at < 12; at += 1) expect(book.observe(stepAt(at, 'Error: no'), contextAt(at, true), [])).toEqual([]);
  expect(book.observe(stepAt(12, 'Error: no'), contextAt(12, true), [])).toMatchObject([{ type: 'cleared' }]);
});

test('a pattern seen again after it was left is a new one', () => {
  const book = new PatternBook();
  book.observe(stepAt(2), contextAt(2, false), [SEEN]);
  for (let at = 3; at < 6; at += 1) book.observe(stepAt(at), contextAt(at, true), []);
  const again = book.observe(stepAt(9), contextAt(9, false), [{ ...SEEN, level: 'hint', evidence: [7, 8, 9] }]);
  expect(again).toMatchObject([{ type: 'noticed', pattern: { firstSeen: 7, flaggedAt: null, level: 'hint' } }]);
  expect(book.all().length).toBe(2);
});

test('evidence, open and closed patterns are bounded', () => {
  const book = new PatternBook();
  const evidence = Array.from({ length: 50 }, (_, at) => at);
  for (let at = 0; at < 400; at += 1) {
    book.observe(stepAt(at), contextAt(at, false), [{ ...SEEN, key: `k${at}`, evidence }]);
  }
  expect(book.open().length).toBeLessThanOrEqual(64);
  expect(book.all().length).toBeLessThanOrEqual(264);
  expect(book.open()[0]?.evidence.length).toBe(32);
});

test('it continues from its snapshot', () => {
  const book = new PatternBook();
  book.observe(stepAt(2), contextAt(2, false), [SEEN]);
  book.observe(stepAt(3), contextAt(3, true), []);
  const copy = new PatternBook(book.snapshot());
  for (let at = 4; at < 7; at += 1) {
    expect(copy.observe(stepAt(at), contextAt(at, true), [])).toEqual(
      book.observe(stepAt(at), contextAt(at, true), []),
    );
  }
  expect(copy.all()).toEqual(book.all());
});

test('a vague sighting is ignored while a more specific stuck pattern is flagged', () => {
  const book = new PatternBook();
  const seen: Sighting = {
    kind: 'cycle',
    key: 'a',
    stuck: true,
    level: 'warn',
    confidence: 0.75,
    occurrences: 3,
    evidence: [0],
  };
  const vague: Sighting = { ...seen, kind: 'repetition', vague: true };
  book.observe(stepAt(0), contextAt(0, false), [vague, seen]);
  book.observe(stepAt(1), contextAt(1, false), [vague]);
  expect(book.open().map(({ kind }) => kind)).toEqual(['cycle']);
  const hinted = new PatternBook();
  hinted.observe(stepAt(0), contextAt(0, false), [vague, { ...seen, level: 'hint' }]);
  expect(hinted.open().map(({ kind }) => kind)).toContain('repetition');
});
