import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { build, type Plugin } from 'esbuild';

/** What is loaded by name and is no subpath of the package: the program, threads, and what the bundles of hooks leave out. */
const OTHERS = [
  'cli/bin',
  'recorder/store-worker',
  'backtest/shard-worker',
  'store/registry/open-postgres',
  'config/load-config',
];

/**
 * Replaces the modules in `folder`, as the compiler made them, by one file for each entry point and chunks that they share: a
 * process opens a few files instead of hundreds. Declarations stay as they are.
 *
 * @returns the sources and packages in it
 */
export async function bundleEntries(folder: string): Promise<readonly string[]> {
  // Our own file.
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const subpaths = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target.default.replace('./dist/', '').replace('.js', '')],
  );
  const { metafile, outputFiles } = await build({
    metafile: true,
    write: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    packages: 'external',
    // Names stay, for traces of errors.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    entryPoints: [...new Set([...subpaths, ...OTHERS])].map((name) => `src/${name}.ts`),
    outbase: 'src',
    outdir: folder,
    chunkNames: 'chunks/[hash]',
    plugins: [placesOf(folder)],
  });
  for (const file of globSync(`${folder}/**/*.js`)) {
    if (!relative(folder, file).startsWith('viewer/assets')) rmSync(file);
  }
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  return Object.keys(metafile.inputs);
}

/** `import.meta.url` stays what it is in the module of its own, wherever its code ends up. */
function placesOf(folder: string): Plugin {
  const end = JSON.stringify(`/${folder}/`).slice(1, -1);
  return {
    name: 'places of modules',
    setup: (bundler) => {
      // A bundle of its own; the command that loads it is always a chunk.
      bundler.onResolve({ filter: /mcp-sdk\.ts$/ }, () => ({ path: '../cli/commands/mcp/mcp-sdk.js', external: true }));
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const place = relative(resolve('src'), path).replaceAll('\\', '/').replace(/\.ts$/, '.js');
        const here = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('${end}')) + '${end}${place}')`;
        return { contents: text.replaceAll('import.meta.url', here), loader: 'ts' };
      });
    },
  };
}
