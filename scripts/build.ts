/**
 * Compiles `src` to `dist`: declarations for each module, and JavaScript in one file for each entry point with chunks that they share.
 * The hook of Claude Code, of which each event starts a process, is a bundle of its own: `hook.cjs`, and what it loads, `hook-main.cjs`, also as a `plugin`; and for `coxswain status`, which a status line
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
import { bundleEntries } from './bundle-entries.ts';
import { recordModules, writeBundledPackages } from './bundled-packages.ts';
import { writeSchemas } from './write-schemas.ts';

rmSync('dist', { recursive: true, force: true });
writeSchemas();
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
const bundled = new Set<string>();
await bundleEntries('dist', bundled);
chmodSync('dist/cli/bin.js', 0o755);
for (const module of await buildHook('dist')) bundled.add(module);
await buildPlugin('dist');
for (const module of [...(await buildStatus()), ...(await bundleMcpSdk())]) bundled.add(module);
await buildPage({ configFile: 'src/viewer/page/vite.config.ts', logLevel: 'warn', plugins: [recordModules(bundled)] });
writeBundledPackages('dist', bundled);

/** In the place of what `tsc` made of it. */
async function bundleMcpSdk(): Promise<readonly string[]> {
  const { metafile } = await build({
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    entryPoints: ['src/cli/commands/mcp/mcp-sdk.ts'],
    outfile: 'dist/cli/commands/mcp/mcp-sdk.js',
    // What it holds in CommonJS form requires modules of Node.
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
  });
  return Object.keys(metafile.inputs);
}

async function buildStatus(): Promise<readonly string[]> {
  const { metafile } = await build({
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
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
