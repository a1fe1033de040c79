import { expect, test } from 'vitest';
import type { AdviceHandle } from '../../run/advice-handle.ts';
import { placeAdvice } from './placed-advice.ts';

function handles(...texts: readonly string[]): { readonly list: readonly AdviceHandle[]; readonly verdicts: string[] } {
  const verdicts: string[] = [];
  const list = texts.map((text): AdviceHandle => ({
    id: text,
    source: 'guidance',
    provider: text,
    severity: 'info',
    text,
    point: 'pre_tool_selection',
    delivered: (channel) => void verdicts.push(`${text} by ${channel}`),
    undelivered: (reason) => void verdicts.push(`${text}: ${reason}`),
  }));
  return { list, verdicts };
}

test('texts are joined, and each has its verdict when the whole has: what did not fit did not arrive', () => {
  const { list, verdicts } = handles('one', 'two', 'three');
  const placed = placeAdvice(list, 8);
  expect([placed?.text, verdicts]).toEqual(['one\n\ntwo', []]);
  placed?.delivered('last-message');
  expect(verdicts).toEqual(['one by last-message', 'two by last-message', 'three: no room in 8 characters']);
});

test('what has no room at all is settled at once', () => {
  const { list, verdicts } = handles('too long');
  expect(placeAdvice(list, 3)).toBeUndefined();
  expect(verdicts).toEqual(['too long: no room in 3 characters']);
  expect(placeAdvice([], 3)).toBeUndefined();
});

test('where the whole did not arrive, the reason is the same for all that was in it', () => {
  const { list, verdicts } = handles('one', 'three');
  placeAdvice(list, 4)?.undelivered('no request followed');
  expect(verdicts).toEqual(['one: no request followed', 'three: no room in 4 characters']);
});
