import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { wordsPage } from '../scripts/words-page.ts';

test('the page of words has the output of common commands; npx node scripts/words-page.ts writes it', () => {
  const page = readFileSync(new URL('../docs/words.md', import.meta.url), 'utf8');
  expect(wordsPage()).toBe(page);
});
