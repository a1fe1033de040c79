import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { buildHook } from '../../scripts/build-hook.ts';

/** Puts the hook into a folder: as `scripts/test-programs.ts` bundled it for this run of the tests, else bundled now. */
export async function putHook(folder: string): Promise<void> {
  const { COXSWAIN_BUILT: built } = process.env;
  if (built === undefined) return void (await buildHook(folder));
  mkdirSync(folder, { recursive: true });
  for (const file of ['hook.cjs', 'hook-main.cjs']) copyFileSync(join(built, file), join(folder, file));
}
