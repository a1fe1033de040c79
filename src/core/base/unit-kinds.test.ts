import { expect, test } from 'vitest';

import { isDigit, isLetter, isLetterOrDigit, isWordUnit } from './unit-kinds.ts';

test.each([
  ['isLetter', isLetter, /[a-z]/i],
  ['isDigit', isDigit, /\d/],
  ['isLetterOrDigit', isLetterOrDigit, /[a-z\d]/i],
  ['isWordUnit', isWordUnit, /\w/],
] as const)('%s agrees with the expression for every unit', (_, tells, expression) => {
  const wrong: number[] = [];
  for (let unit = 0; unit < 0x10000; unit += 1) {
    if (tells(unit) !== expression.test(String.fromCharCode(unit))) wrong.push(unit);
  }
  expect(wrong).toEqual([]);
});
