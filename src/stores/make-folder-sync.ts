import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Creates a folder and its missing parents with mode 0700, and waits until they are on disk. */
export function makeFolderSync(folder: string): void {
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) return;
  const parent = dirname(topmost);
  for (let child = folder; child !== parent; child = dirname(child)) syncFolder(dirname(child));
}

/** Waits until the names in a folder are on disk. Windows cannot open folders, and it orders such writes itself. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
