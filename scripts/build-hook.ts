import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { build, type BuildOptions } from 'esbuild';

/** Bundles Claude Code's hook: `hook.cjs` and `hook-main.cjs`, which it loads. Returns the paths of the bundled modules. */
export async function buildHook(folder: string): Promise<readonly string[]> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const shared = {
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    // The CommonJS form of jsonc-parser requires its parts in a way that no bundler sees.
    mainFields: ['module', 'main'],
    // Non-ASCII characters become escapes, so Node reads the file as Latin-1 without decoding it.
    charset: 'ascii',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  } as const satisfies BuildOptions;
  const main = await build({
    ...shared,
    entryPoints: ['src/hosts/claude-code/hook-main.ts'],
    outfile: join(folder, 'hook-main.cjs'),
    define: { COXSWAIN_VERSION: JSON.stringify(version), 'import.meta.url': '""' },
    banner: { js: '(function(exports,require){"use strict";const module={exports};' },
    footer: { js: 'Object.assign(exports,module.exports)})' },
    plugins: [
      {
        // Rarely used; shipped as a separate module.
        name: 'leave the stores other than SQLite out',
        setup: (bundler) =>
          bundler.onResolve({ filter: /registry\/open-store\.ts$/ }, () => ({
            path: './stores/registry/open-store.js',
            external: true,
          })),
      },
    ],
  });
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'hook-main.cjs')))
    .digest('hex')
    .slice(0, 16);
  const launcher = await build({
    ...shared,
    entryPoints: ['src/hosts/claude-code/hook-launcher.ts'],
    outfile: join(folder, 'hook.cjs'),
    define: { COXSWAIN_HOOK_HASH: JSON.stringify(hash) },
    // Runs before anything is loaded.
    banner: { js: "if(process.env.COXSWAIN_DISABLE==='1')process.exit(0);" },
  });
  return [main, launcher].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}
