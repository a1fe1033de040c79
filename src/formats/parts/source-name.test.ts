import { expect, test } from 'vitest';
import { sourceStem } from './source-content.ts';

test.each([
  ['repo__repo-1.traj', 'repo__repo-1'],
  ['x.traj.json', 'x'],
  ['v1.2.JSONL', 'v1.2'],
  ['-', 'run'],
  ['.json', 'run'],
])('%s names its runs %s', (name, expected) => {
  expect(sourceStem(name)).toBe(expected);
  expect(sourceStem({ path: `folder/${name}`, name })).toBe(expected);
});
