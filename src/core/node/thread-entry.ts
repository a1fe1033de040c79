import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `NAME.js` next to the module `startedBy` (its `import.meta.url`), or `NAME.ts` from source. There, every thread would
 * load Node's type stripping, whose WebAssembly sometimes crashes V8 (seen with Node 24 below
 * `Runtime_TierUpWasmToJSWrapper`), so tests set `COXSWAIN_THREADS` to the folder of a bundle.
 */
export function threadEntry(name: string, startedBy: string): URL {
  if (!startedBy.endsWith('.ts')) return new URL(`./${name}.js`, startedBy);
  const bundledFolder = process.env['COXSWAIN_THREADS'];
  const source = new URL(`./${name}.ts`, startedBy);
  if (bundledFolder === undefined) return source;
  const [, path = ''] = /.*\/src\/(.*)\.ts$/.exec(source.pathname) ?? [];
  return pathToFileURL(join(bundledFolder, `${path}.js`));
}
