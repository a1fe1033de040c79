import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `NAME.js` next to the module `startedBy` (its `import.meta.url`), or `NAME.ts` from source. There, every thread would
 * load Node's type stripping, whose WebAssembly sometimes crashes V8 (seen with Node 24 below
 * `Runtime_TierUpWasmToJSWrapper`), so tests set `COXSWAIN_THREADS` to a folder of bundled threads.
 */
export function threadEntry(name: string, startedBy: string): URL {
  if (!startedBy.endsWith('.ts')) return new URL(`./${name}.js`, startedBy);
  const bundledFolder = process.env['COXSWAIN_THREADS'];
  return bundledFolder === undefined
    ? new URL(`./${name}.ts`, startedBy)
    : pathToFileURL(join(bundledFolder, `${name}.js`));
}
