import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { commandTexts, wordsPage } from '../scripts/words-page.ts';

test('the page of words has the output of the ten most common commands; npx node scripts/words-page.ts writes it', () => {
  const page = readFileSync(new URL('../docs/words.md', import.meta.url), 'utf8');
  const now = new Map(commandTexts());
  expect(now.size).toBe(10);
  // The output of doctor depends on the machine.
  const doctor = /^### coxswain doctor$[^]*/m;
  expect(wordsPage(now).replace(doctor, '')).toBe(page.replace(doctor, ''));
  const checks = (text: string): readonly string[] =>
    [...text.matchAll(/^(?:ok|problem|unknown) +(\S.*?) {2}/gm)].map(([, name]) => name ?? '');
  expect(checks(now.get('doctor') ?? '')).toEqual(checks(page.slice(page.lastIndexOf('### coxswain doctor'))));
});
