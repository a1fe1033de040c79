import { expect, test } from 'vitest';

import { GENAI, GENAI_EVENTS, GENAI_OPERATIONS } from './genai-names.ts';

test('each name stands once', () => {
  const names = [GENAI, GENAI_EVENTS, GENAI_OPERATIONS].flatMap((table) => Object.values<string>(table));
  expect(new Set(names).size).toBe(names.length);
});
