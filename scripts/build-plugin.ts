import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { build } from 'esbuild';

import { marketplaceFile, pluginFiles } from '../src/hosts/claude-code/plugin-files.ts';

/** Puts the plugin of Claude Code together: a folder that stands alone, with the hook that lies beside it in `dist`. */
export async function buildPlugin(dist: string): Promise<void> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const folder = join(dist, 'plugin');
  const put = (inside: string, [path, text]: readonly [string, string]): void => {
    mkdirSync(dirname(join(inside, path)), { recursive: true });
    writeFileSync(join(inside, path), text);
  };
  for (const file of pluginFiles(version)) put(folder, file);
  put(dist, marketplaceFile(version));
  for (const name of ['hook.cjs', 'hook-main.cjs']) copyFileSync(join(dist, name), join(folder, name));
  await build({
    bundle: true,
    platform: 'node',
    format: 'cjs',
    // It must run on a Node that is too old for the rest, in order to say so.
    target: 'node14',
    logLevel: 'warning',
    entryPoints: ['src/hosts/claude-code/plugin-launcher.ts'],
    outfile: join(folder, 'launch.cjs'),
  });
}
