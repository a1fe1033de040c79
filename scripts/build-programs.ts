import { build } from 'esbuild';

import { buildHook } from './build-hook.ts';
import { buildId } from './build-id.ts';
import { bundleEntries } from './bundle-entries.ts';

/**
 * Bundles the entry points, the CLI, the hook, `coxswain status`, what keeps compiled code, and the SDK of MCP to a folder.
 *
 * @param folder  relative to the project
 * @param bundled  receives the paths of the bundled modules
 */
export async function buildPrograms(folder: string, bundled: Set<string>): Promise<void> {
  await bundleEntries(folder, bundled);
  const others = [
    await buildHook(folder),
    await buildStatus(folder),
    await bundleMcpSdk(folder),
    await buildCompileCache(folder),
  ];
  for (const module of others.flat()) bundled.add(module);
}

async function bundleMcpSdk(folder: string): Promise<readonly string[]> {
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
    outfile: `${folder}/cli/commands/mcp/mcp-sdk.js`,
    // Its CommonJS parts require Node modules.
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
  });
  return Object.keys(metafile.inputs);
}

async function buildCompileCache(folder: string): Promise<readonly string[]> {
  const { metafile } = await build({
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    entryPoints: ['src/cli/compile-cache.ts'],
    outfile: `${folder}/compile-cache.cjs`,
    define: { COXSWAIN_BUILD: JSON.stringify(buildId()) },
  });
  return Object.keys(metafile.inputs);
}

async function buildStatus(folder: string): Promise<readonly string[]> {
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
    outfile: `${folder}/status.cjs`,
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
