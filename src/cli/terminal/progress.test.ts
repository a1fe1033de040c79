import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';

import { createFakeClock } from '../../testing/fake-clock.ts';
import { Progress } from './progress.ts';
import { Terminal } from './terminal.ts';

function scene() {
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 120 });
  const clock = createFakeClock();
  const progress = new Progress(new Terminal({ stdout: new PassThrough(), stderr }), clock);
  return { stderr, clock, progress, shown: (): string => String(stderr.read() ?? '') };
}

test('a search that has found nothing yet shows that it is running', async () => {
  const { progress, shown, stderr } = scene();
  await once(stderr, 'readable');
  expect(shown()).toContain('looking for runs');
  progress.end();
});

test('many files share one bar with the time left, once there is something to estimate it from', () => {
  const { clock, progress, shown } = scene();
  progress.found(1);
  expect(shown()).toBe('');
  clock.advance(1);
  progress.found(4);
  expect(shown()).toContain('4 files found');
  clock.advance(60);
  progress.total([
    ['a', 100],
    ['b', 100],
    ['c', 100],
    ['d', 100],
  ]);
  progress.source('a');
  progress.bytes(50, 100);
  expect(shown()).toMatch(/0 of 4 files {2}0 runs$/);
  progress.run();
  clock.advance(100);
  progress.source('b');
  progress.run();
  expect(shown()).toMatch(/█{5}░{15} {2}1 of 4 files {2}1 run {2}about 5 minutes left$/);
  progress.end();
});
