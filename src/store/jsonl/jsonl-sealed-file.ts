import { Buffer } from 'node:buffer';

import { isMissing } from '../file-system.ts';
import { checkLine, jsonOfLine, LineBuffer } from './jsonl-line.ts';
import { pathOf } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { writeFully } from '../write-fully.ts';

/**
 * Writes one JSON object, with a check as in a line of records, to a file of its own, whole or not at
 * all, and waits until the disk has it.
 *
 * Throws what the file system throws; the file is then as it was.
 */
export async function writeSealed(run: RunFiles, name: string, json: string): Promise<void> {
  const { fileSystem } = run;
  const lines = new LineBuffer();
  lines.add([{ json }]);
  const unfinished = pathOf(run, `${name}.new`);
  const file = await fileSystem.open(unfinished, 'make');
  try {
    await file.truncate(0);
    await writeFully(file, lines.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await fileSystem.rename(unfinished, pathOf(run, name));
  await fileSystem.syncFolder(run.folder);
}

/** What a sealed file says: its JSON, or undefined where there is none or it is not as it was written. */
export async function readSealed(run: RunFiles, name: string): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await run.fileSystem.readWhole(pathOf(run, name));
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checked = text.at(-1) === 0x0a ? checkLine(text.subarray(0, -1)) : undefined;
  return checked === undefined ? undefined : jsonOfLine(checked);
}

/** Removes a file of the run, which may be gone already. */
export async function removeIfThere(run: RunFiles, name: string): Promise<void> {
  try {
    await run.fileSystem.remove(pathOf(run, name));
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
}
