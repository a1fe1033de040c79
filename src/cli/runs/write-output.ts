import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CoxswainError, invalidArgument, messageOf } from '../../core/base/error.ts';
import { checkOutput } from '../../core/node/guarded-file.ts';
import { printable } from '../../core/base/printable.ts';

/**
 * Commands call it before they read their input, because the file may be that input.
 *
 * @param start  the beginning of every file that the command writes; a file that begins so may be replaced
 * @throws CoxswainError `invalid-argument` if the file has other content; `input-io` if it cannot be written; `unsafe-path`
 */
export function checkReplaceable(file: string, start: string): void {
  checkOutput(file);
  try {
    const facts = statSync(file, { throwIfNoEntry: false });
    accessSync(facts === undefined ? dirname(file) : file, constants.W_OK);
    if (facts?.isFile() !== true || facts.size === 0 || startsWith(file, Buffer.from(start))) return;
  } catch (error) {
    throw notWritable(file, error);
  }
  throw alreadyExists(file);
}

export function alreadyExists(file: string): CoxswainError {
  return invalidArgument(`${printable(file)} already exists; give another name or remove it`);
}

/** Throws as `checkReplaceable`. */
export async function writeOutput(file: string, start: string, content: string): Promise<void> {
  checkReplaceable(file, start);
  try {
    await writeFile(file, content, { mode: 0o600 });
  } catch (error) {
    throw notWritable(file, error);
  }
}

function startsWith(file: string, start: Buffer): boolean {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(start.length);
    return readSync(fd, bytes) === start.length && bytes.equals(start);
  } finally {
    closeSync(fd);
  }
}

function notWritable(file: string, error: unknown): CoxswainError {
  return new CoxswainError('input-io', `${printable(file)} cannot be written: ${messageOf(error)}`, { cause: error });
}
