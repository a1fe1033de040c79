import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Path of a file or folder of the labelled data that lies beside the project (`../shared`), or undefined
 * where this checkout stands alone. Tests that need it skip with that reason.
 */
export function sharedPath(...parts: readonly string[]): string | undefined {
  const path = fileURLToPath(new URL(['../../../shared', ...parts].join('/'), import.meta.url));
  return existsSync(path) ? path : undefined;
}
