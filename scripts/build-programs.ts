import { build, type BuildOptions } from 'esbuild';

import { buildHook } from './build-hook.ts';
import { BUILD_ID } from './build-id.ts';
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

/** Bundles one entry with all that it imports. Returns the paths of the bundled modules. */
async function bundleProgram(options: BuildOptions & { readonly format: 'cjs' | 'esm' }): Promise<readonly string[]> {
  const { metafile } = await build({
    ...options,
    metafile: true,
    bundle: true,
    platform: 'node',
    target: 'node22',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs);
}

function bundleMcpSdk(folder: string): Promise<readonly string[]> {
  return bundleProgram({
    format: 'esm',
    entryPoints: ['src/cli/commands/mcp/mcp-sdk.ts'],
    outfile: `${folder}/cli/commands/mcp/mcp-sdk.js`,
    // Its CommonJS parts require Node modules.
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
  });
}

function buildCompileCache(folder: string): Promise<readonly string[]> {
  return bundleProgram({
    format: 'cjs',
    entryPoints: ['src/cli/compile-cache.ts'],
    outfile: `${folder}/compile-cache.cjs`,
    define: { COXSWAIN_BUILD: JSON.stringify(BUILD_ID) },
  });
}

function buildStatus(folder: string): Promise<readonly string[]> {
  return bundleProgram({
    format: 'cjs',
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
}
