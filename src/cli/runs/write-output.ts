import { writeFile } from 'node:fs/promises';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { checkOutput } from '../../core/node/guarded-file.ts';
import { printable } from '../../core/base/printable.ts';

export async function writeOutput(file: string, content: string | Uint8Array): Promise<void> {
  try {
    checkOutput(file);
    await writeFile(file, content, { mode: 0o600 });
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    throw new CoxswainError('input-io', `${printable(file)} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
