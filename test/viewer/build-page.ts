import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

const CONFIG = fileURLToPath(new URL('../../src/viewer/page/vite.config.ts', import.meta.url));

/** Builds the viewer's page into a folder, as the product's build does. */
export async function buildPage(folder: string): Promise<string> {
  const outDir = join(folder, 'page');
  const before = process.env['NODE_ENV'];
  // Of the test runner it is `test`, with which React is half as large again.
  process.env['NODE_ENV'] = 'production';
  try {
    await build({ configFile: CONFIG, logLevel: 'error', build: { outDir } });
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
  return outDir;
}
