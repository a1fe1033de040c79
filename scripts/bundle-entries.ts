import { relative, resolve } from 'node:path';

import { rolldown, type OutputOptions, type Plugin } from 'rolldown';

import { BUILD_ID } from './build-id.ts';
import { entryPoints } from './bundle-types.ts';

/** Modules loaded by path that are not package subpaths: the CLI, threads, and modules that the hook bundles exclude. */
const OTHERS = [
  'cli/bin',
  'cli/main',
  'cli/runs/session-worker',
  'lab/shard-worker',
  'stores/registry/open-store',
  'hosts/config/load-config',
  'hosts/plugins/opencode-plugin',
  'hosts/plugins/pi-extension',
];
/** The entry for runtimes without Node modules is a single file. */
const EDGE = 'edge';
/** Packages whose code is in the chunks. */
export const BUNDLED: ReadonlySet<string> = new Set(['jsonc-parser', 'pbf', 'unbash']);
/** The shell parser, beside the chunk that loads it. */
const PARSER = 'unbash.cjs';
/** Entries that need most of the library; others must not load the chunks that these share. */
const LARGE = new Set(['index']);
/** A module used by at least this many small entries goes into the chunk shared by all entries. */
const COMMON = 3;

const OUTPUT = {
  format: 'esm',
  comments: { legal: false, jsdoc: false },
  // Keeps names and lines: for an error that a program does not catch, Node prints the whole line that threw it.
  minify: { compress: { target: 'node22' }, mangle: false, codegen: { removeWhitespace: false } },
} as const satisfies OutputOptions;

/**
 * Writes one JavaScript file per entry point plus shared chunks to `folder`, so a process opens a few files instead of hundreds. The
 * modules of `coxswain` itself are in two chunks; most adapters need only the smaller one. Each additional file costs an import about as
 * much as 15 kB of code.
 *
 * @param modules  receives the paths of the bundled modules
 */
export async function bundleEntries(folder: string, modules: Set<string>): Promise<void> {
  const subpaths = entryPoints().filter((name) => name !== EDGE);
  const small = subpaths.filter((name) => !LARGE.has(name));
  const bundle = await rolldown({
    input: Object.fromEntries([...subpaths, ...OTHERS].map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    external: (id) => /^[\w@]/.test(id) && !BUNDLED.has(id) && !AS_OBJECTS.has(id),
    // As in `build-hook.ts`.
    resolve: { mainFields: ['module', 'main'] },
    preserveEntrySignatures: 'allow-extension',
    transform: { define: { COXSWAIN_BUILD: JSON.stringify(BUILD_ID) } },
    checks: { ineffectiveDynamicImport: false },
    plugins: [
      shellParserOnDemand(`process.getBuiltinModule('node:module').createRequire(import.meta.url)('./${PARSER}')`),
      builtInsOnDemand,
      placesOf(folder),
      asciiOnly,
      {
        name: 'record modules',
        generateBundle: (_options, made) => {
          for (const part of Object.values(made))
            if (part.type === 'chunk') part.moduleIds.forEach((id) => modules.add(id));
        },
      },
    ],
  });
  const reached = new Map<string, ReadonlySet<string>>();
  const reaches = (entry: string, id: string, importsOf: (id: string) => readonly string[]): boolean => {
    const found = reached.get(entry) ?? reachedFrom(resolve(`src/${entry}.ts`), importsOf);
    reached.set(entry, found);
    return found.has(id);
  };
  const edge = await rolldown({
    input: `src/${EDGE}.ts`,
    platform: 'neutral',
    plugins: [shellParserOnDemand("require('unbash')"), asciiOnly],
  });
  await edge.write({ ...OUTPUT, file: `${folder}/${EDGE}.js` });
  const shellParser = await rolldown({ input: 'unbash', platform: 'node', plugins: [asciiOnly] });
  await shellParser.write({ ...OUTPUT, format: 'cjs', file: `${folder}/chunks/${PARSER}` });
  await bundle.write({
    ...OUTPUT,
    dir: folder,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: 'base and core',
          name(id, context) {
            const importsOf = (module: string): readonly string[] => context.getModuleInfo(module)?.importedIds ?? [];
            if (!reaches('index', id, importsOf)) return null;
            const entries = small.filter((entry) => reaches(entry, id, importsOf));
            if (entries.length >= COMMON) return 'base';
            return ['core', ...entries.map((entry) => entry.replace(/\/index$/, '').replaceAll('/', '-'))].join('-');
          },
        },
      ],
    },
  });
}

/** The modules that an entry imports statically. */
function reachedFrom(entry: string, importsOf: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const id of found) for (const imported of importsOf(id)) found.add(imported);
  return found;
}

/** Node stores a file with any non-Latin-1 character as two bytes per character and compiles it more slowly. */
const asciiOnly: Plugin = {
  name: 'ASCII only',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      chunk.code = chunk.code.replaceAll(
        /[^\x00-\x7F]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

const STUB = '\0unbash on demand';

/**
 * The shell parser is loaded when the first command is read.
 *
 * @param parser  the expression that loads it
 */
const shellParserOnDemand = (parser: string): Plugin => ({
  name: 'shell parser on demand',
  resolveId: (id, importer) => (id === 'unbash' && importer !== STUB ? STUB : undefined),
  load: (id) =>
    id === STUB
      ? `let loaded;
         const parser = () => (loaded ??= ${parser});
         export const parse = (...args) => parser().parse(...args);
         export const forEachChild = (...args) => parser().forEachChild(...args);`
      : undefined,
});

/** Keeps the `import.meta.url` of the original module, whichever chunk contains its code. */
function placesOf(folder: string): Plugin {
  const end = JSON.stringify(`/${folder}/`).slice(1, -1);
  return {
    name: 'places of modules',
    // A separate bundle; the command that loads it is always a chunk.
    resolveId: (id) =>
      id.endsWith('mcp-sdk.ts') ? { id: '../cli/commands/mcp/mcp-sdk.js', external: 'relative' } : undefined,
    transform(text, path) {
      if (!path.endsWith('.ts') || !text.includes('import.meta.url')) return undefined;
      const place = relative(resolve('src'), path).replaceAll('\\', '/').replace(/\.ts$/, '.js');
      const here = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('${end}')) + '${end}${place}')`;
      return { code: text.replaceAll('import.meta.url', here), map: null };
    },
  };
}

/** Modules of Node whose functions are loaded by the first call. Other values of these modules, such as classes, are loaded at once. */
const ON_DEMAND = new Set(['node:fs/promises', 'node:crypto', 'node:os', 'node:child_process', 'node:util']);
const AS_OBJECTS = new Set(['node:fs', ...ON_DEMAND]);
const BUILT_IN = '\0built-in ';

/**
 * Loads modules of Node as objects. A static import of `node:fs` reads each of its exports, including those that load further modules:
 * it took a sixth of the time in which Node starts.
 */
const builtInsOnDemand: Plugin = {
  name: 'built-in modules on demand',
  resolveId: (id) => (AS_OBJECTS.has(id) ? `${BUILT_IN}${id}` : undefined),
  load(id) {
    if (!id.startsWith(BUILT_IN)) return undefined;
    const name = id.slice(BUILT_IN.length);
    const found: object = process.getBuiltinModule(name) ?? {};
    const exported = Object.entries(Object.getOwnPropertyDescriptors(found)).map(([key, { value }]) => {
      const isFunction = ON_DEMAND.has(name) && typeof value === 'function' && !/^[A-Z]/.test(key);
      return `export const ${key} = /* @__PURE__ */ ${isFunction ? 'later' : 'now'}(${JSON.stringify(key)});`;
    });
    return `const now = (key) => process.getBuiltinModule('${name}')[key];
      const later = (key) => (...args) => now(key)(...args);
      ${exported.join('\n')}`;
  },
};
