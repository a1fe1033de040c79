import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { threadEntry } from './thread-entry.ts';

test('a built module starts the built neighbour, whatever the environment says', () => {
  expect(threadEntry('shard-worker', 'file:///package/dist/backtest/run-shards.js').href).toBe(
    'file:///package/dist/backtest/shard-worker.js',
  );
});

test('under test the threads of the sources run as bundles, without type stripping', () => {
  const entry = fileURLToPath(threadEntry('shard-worker', new URL('../../lab/run-backtest.ts', import.meta.url).href));
  expect(entry).toMatch(/shard-worker\.js$/);
  expect(existsSync(entry)).toBe(true);
});
