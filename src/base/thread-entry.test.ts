import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { threadEntry } from './thread-entry.ts';

test('a built module starts the built neighbour, whatever the environment says', () => {
  expect(threadEntry('store-worker', 'file:///package/dist/recorder/worker-link.js').href).toBe(
    'file:///package/dist/recorder/store-worker.js',
  );
});

test('under test the threads of the sources run as bundles, without type stripping', () => {
  const entry = fileURLToPath(threadEntry('store-worker', import.meta.url));
  expect(entry).toMatch(/store-worker\.js$/);
  expect(existsSync(entry)).toBe(true);
});
