import { link, open, rm } from 'node:fs/promises';

import { CoxswainError, messageOf, hasCode } from '../../../core/base/error.ts';
import { checkOutput, lookAt } from '../../../core/node/guarded-file.ts';
import { printable } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const WRITE_CHARS = 1024 * 1024;

/** The output: standard output or a new file. */
export interface TextTarget {
  /** The path of the file; undefined for standard output. */
  readonly name: string | undefined;
  write(text: string): Promise<void>;
  /** @param isWhole  false if writing failed */
  close(isWhole: boolean): Promise<void>;
}

/**
 * Opens standard output (default or `-`) or a new file.
 *
 * @throws CoxswainError `input-io` if the file exists or cannot be created; `unsafe-path` from `checkOutput`
 */
export async function openTextTarget(to: string | undefined, terminal: Terminal): Promise<TextTarget> {
  if (to !== undefined && to !== '-') return openFileTarget(to);
  return { name: undefined, write: (text) => terminal.write(text), close: async () => {} };
}

/** Writes to a temporary file and links it to its name when it is complete, so that a failure leaves no file. */
async function openFileTarget(path: string): Promise<TextTarget> {
  checkOutput(path);
  if (lookAt(path) !== undefined) throw alreadyExists(path);
  const temporaryPath = `${path}.${process.pid}.part`;
  const file = await open(temporaryPath, 'wx', 0o600).catch((error: unknown) => {
    throw new CoxswainError('input-io', `${printable(path)} cannot be created: ${messageOf(error)}`);
  });
  let pendingText = '';
  const flushText = async (): Promise<void> => {
    const text = pendingText;
    pendingText = '';
    await file.appendFile(text);
  };
  return {
    name: path,
    write: async (text) => {
      pendingText += text;
      if (pendingText.length > WRITE_CHARS) await flushText();
    },
    close: async (isWhole) => {
      let isStored = false;
      try {
        if (isWhole) {
          await flushText();
          await file.sync();
          isStored = true;
        }
      } finally {
        await file.close();
        // Unlike a rename, a link does not replace a file that was created in the meantime.
        if (isStored) await link(temporaryPath, path).catch((error: unknown) => Promise.reject(linkError(path, error)));
        await rm(temporaryPath, { force: true });
      }
    },
  };
}

function linkError(path: string, error: unknown): CoxswainError {
  if (hasCode(error, 'EEXIST')) return alreadyExists(path);
  return new CoxswainError('input-io', `${printable(path)} cannot be created: ${messageOf(error)}`, { cause: error });
}

function alreadyExists(path: string): CoxswainError {
  return new CoxswainError('input-io', `${printable(path)} already exists; give another name or remove it`);
}
