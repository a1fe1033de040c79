import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

const CONFIG = fileURLToPath(new URL('../../src/viewer/page/vite.config.ts', import.meta.url));

/** Builds the viewer's page into a folder, as the product's build does. */
export async function buildPage(folder: string): Promise<string> {
  const outDir = join(folder, 'page');
  await build({ configFile: CONFIG, logLevel: 'error', build: { outDir } });
  return outDir;
}
