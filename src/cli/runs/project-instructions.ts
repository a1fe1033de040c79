import { readdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

import { INSTRUCTION_FILES, instructionFile, type InstructionFile } from '../../core/facts/instruction-lines.ts';
import { lookAt, readGuarded, requireInside } from '../../core/node/guarded-file.ts';

const MAX_SKILLS = 100;
const MAX_BYTES = 400_000;

/** Undefined if the folder is not here. Files that are links, too large or of another user are left out. */
export function projectInstructions(folder: string): readonly InstructionFile[] | undefined {
  if (!isAbsolute(folder) || lookAt(folder)?.isDirectory() !== true) return undefined;
  return INSTRUCTION_FILES.flatMap((pattern) => pathsOf(folder, pattern)).flatMap((path) => {
    const text = readText(folder, path);
    return text === undefined ? [] : [instructionFile(path, text)];
  });
}

function pathsOf(folder: string, pattern: string): readonly string[] {
  if (!pattern.includes('*')) return [pattern];
  const parent = dirname(dirname(pattern));
  try {
    requireInside(folder, join(folder, parent, 'x'));
    const names = readdirSync(join(folder, parent)).toSorted();
    return names.slice(0, MAX_SKILLS).map((name) => pattern.replace('*', name));
  } catch {
    // There is no such folder, or it is a link: its files are not looked at.
    return [];
  }
}

function readText(folder: string, path: string): string | undefined {
  try {
    const inside = requireInside(folder, join(folder, path));
    return readGuarded(inside, { maxBytes: MAX_BYTES, mayBeShared: true })?.toString('utf8');
  } catch {
    // A link, a hard link or a file of another user is not read.
    return undefined;
  }
}
