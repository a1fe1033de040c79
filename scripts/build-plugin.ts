import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { build } from 'esbuild';

import { marketplaceFile, pluginFiles } from './plugin-files.ts';

/** Builds Claude Code's plugin: a self-contained folder with a copy of the hook from `dist`. */
export async function buildPlugin(dist: string): Promise<void> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const folder = join(dist, 'plugin');
  const writeInside = (inside: string, [path, text]: readonly [string, string]): void => {
    mkdirSync(dirname(join(inside, path)), { recursive: true });
    writeFileSync(join(inside, path), text);
  };
  for (const file of pluginFiles(version)) writeInside(folder, file);
  writeInside(dist, marketplaceFile(version));
  for (const name of ['hook.cjs', 'hook-main.cjs']) copyFileSync(join(dist, name), join(folder, name));
  await build({
    bundle: true,
    platform: 'node',
    format: 'cjs',
    // Must also run on an old Node, to report that it is too old.
    target: 'node14',
    logLevel: 'warning',
    entryPoints: ['src/hosts/claude-code/plugin-launcher.ts'],
    outfile: join(folder, 'launch.cjs'),
  });
}
