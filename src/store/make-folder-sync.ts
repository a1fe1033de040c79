import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * `makeFolder` for a store that opens at once: makes a folder and what is missing above it, for their owner only
 * (0700), so that a power cut leaves them.
 */
export function makeFolderSync(folder: string): void {
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  const above = dirname(topmost);
  for (let made = folder; made !== above; made = dirname(made)) syncFolder(dirname(made));
}

/** Waits until the disk has the names in a folder. Windows cannot open folders and orders such writes itself. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
