import { writeSync } from 'node:fs';

import { hasCode } from '../../base/error.ts';

/** Maximum number of waits for a slow reader. Each wait takes one millisecond. */
const MAX_WAITS = 1_000;

/**
 * Writes a text to standard output. Returns when the pipe has accepted all of it.
 *
 * @throws a system error
 */
export function writeStdout(text: string): void {
  let left = Buffer.from(text, 'utf8');
  for (let waits = 0; left.length > 0;) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      const isFull = hasCode(error, 'EAGAIN');
      if (!isFull || waits >= MAX_WAITS) throw error;
      waits += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
