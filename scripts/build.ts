/**
 * Bundles `src` to `dist`: JavaScript and declarations as one file per entry point with shared chunks. Programs that start often get
 * separate bundles: Claude Code's hook (`hook.cjs`, `hook-main.cjs`, also as a `plugin`) and `coxswain status` (`status.cjs`). The viewer's
 * page goes to `viewer/index.html` and `viewer/assets`, licences and SBOM of bundled packages to `THIRD-PARTY-NOTICES.txt` and
 * `sbom.cdx.json`, and the generated schemas of records and configuration to `schema`.
 */
import { chmodSync, rmSync } from 'node:fs';

import { build } from 'esbuild';
import { build as buildPage } from 'vite';

import { buildHook } from './build-hook.ts';
import { buildPlugin } from './build-plugin.ts';
import { bundleEntries } from './bundle-entries.ts';
import { bundleTypes } from './bundle-types.ts';
import { recordModules, writeBundledPackages } from './bundled-packages.ts';
import { writeSchemas } from './write-schemas.ts';

rmSync('dist', { recursive: true, force: true });
writeSchemas();
await bundleTypes('dist');
const bundled = new Set<string>();
await bundleEntries('dist', bundled);
chmodSync('dist/cli/bin.js', 0o755);
for (const module of await buildHook('dist')) bundled.add(module);
await buildPlugin('dist');
for (const module of [...(await buildStatus()), ...(await bundleMcpSdk())]) bundled.add(module);
await buildPage({ configFile: 'src/viewer/page/vite.config.ts', logLevel: 'warn', plugins: [recordModules(bundled)] });
writeBundledPackages('dist', bundled);

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
    // Its CommonJS parts require Node modules.
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
        // Rarely needed and large; shipped as separate modules.
        name: 'leave the configuration and the stores other than SQLite out',
        setup: (bundler) => {
          bundler.onResolve({ filter: /load-config\.ts$/ }, () => ({
            path: './hosts/config/load-config.js',
            external: true,
          }));
          bundler.onResolve({ filter: /registry\/open-store\.ts$/ }, () => ({
            path: './stores/registry/open-store.js',
            external: true,
          }));
        },
      },
    ],
  });
  return Object.keys(metafile.inputs);
}
