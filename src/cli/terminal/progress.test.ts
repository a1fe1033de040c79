import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';

import { createFakeClock } from '../../testing/fake-clock.ts';
import { Progress } from './progress.ts';
import { Terminal } from './terminal.ts';

test('the progress over many files has a total and the time that is left, from half a second on', () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 120 });
  const clock = createFakeClock();
  const progress = new Progress(new Terminal({ stdout: new PassThrough(), stderr }), clock);
  const shown = (): string => String(stderr.read() ?? '');
  progress.found(1);
  expect(shown()).toBe('');
  clock.advance(1);
  progress.found(4);
  expect(shown()).toContain('4 files found');
  progress.total([
    ['a', 100],
    ['b', 100],
    ['c', 100],
    ['d', 100],
  ]);
  progress.source('a');
  progress.run();
  clock.advance(99);
  progress.source('b');
  progress.run();
  expect(shown()).toMatch(/█{5}░{15} {2}1 of 4 files {2}1 run {2}about 5 minutes left$/);
});
