import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { CHARACTER_CLASSES, EVENT, makeWordAutomaton, STATE, type WordAutomaton } from './word-automaton.ts';

/** The numbers of the words that end behind each character, ascending. */
function wordsMet({ steps, longest, shorter }: WordAutomaton, text: string): readonly (readonly number[])[] {
  let state = STATE.outside;
  return Array.from({ length: text.length }, (_, at) => {
    const step = CHARACTER_CLASSES[text.charCodeAt(at)] ?? 0;
    state = (steps[state + step] ?? 0) & ~EVENT;
    if (state === STATE.mixed) state = steps[STATE.letter + step] ?? 0;
    const found: number[] = [];
    for (let word = longest[state / 32] ?? 0; word !== 0; word = shorter[word] ?? 0) found.push(word);
    return found.sort((one, other) => one - other);
  });
}

test('every word is met where it ends, also within and behind others', () => {
  const word = fc.stringMatching(/^\/?[ab]{2,5}$/);
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), fc.stringMatching(/^[abABc/7é -]{0,40}$/), (words, text) => {
      const plain = Array.from({ length: text.length }, (_, at) =>
        words.flatMap((letters, index) =>
          text
            .slice(0, at + 1)
            .toLowerCase()
            .endsWith(letters)
            ? [index + 1]
            : [],
        ),
      );
      expect(wordsMet(makeWordAutomaton(words), text)).toEqual(plain);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['7', [STATE.openingDigit]],
  ['_7', [STATE.openingDigit]],
  ['-7', [STATE.openingDigit]],
  ['77', [STATE.openingDigit]],
  ['a7', [STATE.laterDigit]],
  ['a77', [STATE.laterDigit]],
  ['7a', [STATE.openingDigit, STATE.mixed]],
  ['ab-c', [STATE.dash]],
  ['--', []],
  ['7-', [STATE.openingDigit]],
  ['a%', [STATE.percent]],
  ['é A/_', []],
] as const)('%j has the events %j', (text, events) => {
  const { steps } = makeWordAutomaton(['zz']);
  let state = STATE.outside;
  const met: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    state = steps[state + (CHARACTER_CLASSES[text.charCodeAt(at)] ?? 0)] ?? 0;
    if (state >= EVENT) met.push((state -= EVENT));
    if (state === STATE.mixed) state = STATE.letter;
  }
  expect(met).toEqual(events);
});
