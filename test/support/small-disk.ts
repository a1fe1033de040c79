import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A disk of two megabytes. */
export interface SmallDisk {
  readonly path: string;
  /** Fills it to its last byte. */
  fill(): void;
  makeRoom(): void;
  unmount(): void;
}

/** Mounts a small disk in a folder. Returns undefined unless the user is root on Linux. */
export function smallDisk(folder: string): SmallDisk | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const path = join(folder, 'disk');
  mkdirSync(path);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', path]).status !== 0) return undefined;
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      for (const bytes of [64 * 1024, 4_096, 1]) {
        for (;;) {
          try {
            writeFileSync(filler, Buffer.alloc(bytes, 'x'), { flag: 'a' });
          } catch {
            break;
          }
        }
      }
    },
    makeRoom: () => rmSync(filler, { force: true }),
    unmount: () => void spawnSync('umount', ['-l', path]),
  };
}
