import { expect, test } from 'vitest';

import { tellsFailure } from './read-hook-input.ts';

test.each([
  ["rm in '/p/build' needs approval. Claude Code asks before a shell command removes files there.", false],
  ['Permission to use Bash has been denied.', false],
  ['new.js\npackage.json', true],
])('of a shell call with the result %j, the batch tells if it failed: %s', (result, tells) => {
  expect(tellsFailure({ id: 'a', name: 'Bash', args: {}, result, isError: false })).toBe(tells);
});
