import { expect, test } from 'vitest';
import { namesOfFolders } from '../commands/report/night-sections.ts';
import { isProjectNamed } from './machine-stores.ts';

test('a project that is known as a hash only is named by its first 8 characters', () => {
  const folder = `/home/ann/.gemini/tmp/95ab8478${'b5fc136a'.repeat(7)}`;
  expect([...namesOfFolders(new Set([folder])).values()]).toEqual(['95ab8478']);
  expect(isProjectNamed(folder, '95ab8478')).toBe(true);
});
