/**
 * Compiles `src` to `dist`: plain JavaScript with declarations, nothing bundled, but for the hook of Claude Code, of which
 * each event starts a process: `hook.cjs`, and what it loads, `hook-main.cjs`, also as a `plugin`; and for `coxswain status`, which a status line
 * starts again and again: `status.cjs`. The viewer's page is made of its own sources, into `viewer/index.html` and `viewer/assets`.
 * What the bundles hold of other packages stands in `THIRD-PARTY-NOTICES.txt` and `sbom.cdx.json`. The schemas of records and of the
 * configuration are made from their definitions, into `schema`.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';

import { build } from 'esbuild';
import { build as buildPage } from 'vite';

import { buildHook } from './build-hook.ts';
import { buildPlugin } from './build-plugin.ts';
import { recordModules, writeBundledPackages } from './bundled-packages.ts';
import { writeSchemas } from './write-schemas.ts';

rmSync('dist', { recursive: true, force: true });
writeSchemas();
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
chmodSync('dist/cli/bin.js', 0o755);
const bundled = new Set(await buildHook('dist'));
await buildPlugin('dist');
for (const module of await buildStatus()) bundled.add(module);
await buildPage({ configFile: 'src/viewer/page/vite.config.ts', logLevel: 'warn', plugins: [recordModules(bundled)] });
writeBundledPackages('dist', bundled);

async function buildStatus(): Promise<readonly string[]> {
  const { metafile } = await build({
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    entryPoints: ['src/cli/commands/status/status-main.ts'],
    outfile: 'dist/status.cjs',
    plugins: [
      {
        // Seldom needed, large, and there as modules of their own.
        name: 'leave the configuration and the PostgreSQL store out',
        setup: (bundler) => {
          bundler.onResolve({ filter: /load-config\.ts$/ }, () => ({
            path: './config/load-config.js',
            external: true,
          }));
          bundler.onResolve({ filter: /open-postgres\.ts$/ }, () => ({
            path: './store/registry/open-postgres.js',
            external: true,
          }));
        },
      },
    ],
  });
  return Object.keys(metafile.inputs);
}
