import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Returns the URL of a worker thread's program. It is `NAME.js` next to the module that starts the thread, or `NAME.ts` if
 * that module runs from source.
 *
 * From source, every thread would load Node's type stripping, which uses WebAssembly. V8 sometimes crashes when several
 * threads of a process that use WebAssembly start and end (seen with Node 24: a segmentation fault below
 * `Runtime_TierUpWasmToJSWrapper`). Tests therefore set the variable `COXSWAIN_THREADS` to a folder of bundled thread
 * programs. The built package does not need the variable.
 *
 * @param name      the module without its extension
 * @param startedBy `import.meta.url` of the module that starts the thread
 */
export function threadEntry(name: string, startedBy: string): URL {
  if (!startedBy.endsWith('.ts')) return new URL(`./${name}.js`, startedBy);
  const bundledFolder = process.env['COXSWAIN_THREADS'];
  return bundledFolder === undefined
    ? new URL(`./${name}.ts`, startedBy)
    : pathToFileURL(join(bundledFolder, `${name}.js`));
}
