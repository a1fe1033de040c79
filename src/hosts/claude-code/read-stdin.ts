import { read } from 'node:fs';

import { CoxswainError } from '../../core/base/error.ts';
import { jsonOf } from '../../core/base/json.ts';

const CHUNK_BYTES = 256 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
/** Slightly less than Claude Code's timeout. With a load of 48 on two cores, 17 of 90 inputs arrived over 2 s after the start. */
const TIME_LIMIT_MS = 9_000;

/** True while a thread is blocked on standard input. That thread cannot be cancelled. */
let isReading = false;

/**
 * Stops at the end, at a complete JSON object, or after nine seconds. `process.stdin` would take 5 ms to load, a sixth
 * of the start.
 *
 * @throws CoxswainError `input-too-large` above 64 MB, or `input-io`
 */
export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  return new Promise((resolve, reject) => {
    const resolveInput = (): void => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    };
    const timer = setTimeout(resolveInput, TIME_LIMIT_MS);
    const rejectInput = (error: CoxswainError): void => {
      clearTimeout(timer);
      reject(error);
    };
    const readNext = (): void => {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      isReading = true;
      read(0, chunk, 0, CHUNK_BYTES, null, (error, count) => {
        isReading = false;
        if (error !== null) {
          // EAGAIN: the pipe is non-blocking. EOF: Windows reports a closed pipe with this error.
          if (error.code === 'EAGAIN') setTimeout(readNext, 1);
          else if (error.code === 'EOF') resolveInput();
          else
            rejectInput(
              new CoxswainError('input-io', `standard input cannot be read: ${error.message}`, { cause: error }),
            );
          return;
        }
        total += count;
        if (total > MAX_BYTES) {
          rejectInput(new CoxswainError('input-too-large', `standard input holds more than ${MAX_BYTES} bytes`));
          return;
        }
        chunks.push(chunk.subarray(0, count));
        if (count === 0 || isWhole(chunks)) resolveInput();
        else readNext();
      });
    };
    readNext();
  });
}

export function endProcess(): never {
  // `process.exit` waits for threads. Replacing the process image does not.
  if (isReading && process.platform !== 'win32') {
    process.execve?.(process.execPath, [process.execPath, '-e', '0'], {});
  }
  process.exit(0);
}

function isWhole(chunks: readonly Buffer[]): boolean {
  const end = chunks.at(-1)?.subarray(-16).toString('latin1').trimEnd() ?? '';
  return end.endsWith('}') && jsonOf(Buffer.concat(chunks).toString('utf8')) !== undefined;
}
