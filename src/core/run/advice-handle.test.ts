import { expect, test } from 'vitest';
import { placeAdvice, type AdviceHandle } from './advice-handle.ts';

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

test('texts are joined, and what does not fit is settled with the rest', () => {
  const { list, verdicts } = handles('one', 'two', 'three');
  const placed = placeAdvice(list, 8);
  expect([placed?.text, verdicts]).toEqual(['one\n\ntwo', []]);
  placed?.delivered('last-message');
  expect(verdicts).toEqual(['one by last-message', 'two by last-message', 'three: no room in 8 characters']);
});

test('without any advice that fits there is no text', () => {
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
