import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Where the program of a thread lies: `NAME.js` beside the module that starts it, `NAME.ts` where that is run from the
 * sources.
 *
 * From the sources every thread would load Node's type stripping, which is WebAssembly, and V8 crashes now and then
 * when several threads of a process come and go with WebAssembly in them (seen with Node 24: a segmentation fault
 * below `Runtime_TierUpWasmToJSWrapper`). So tests name a folder of bundled thread programs in the variable
 * `COXSWAIN_THREADS`; the built package has no use for it.
 *
 * @param name      the module without its extension
 * @param startedBy `import.meta.url` of its neighbour that starts the thread
 */
export function threadEntry(name: string, startedBy: string): URL {
  if (!startedBy.endsWith('.ts')) return new URL(`./${name}.js`, startedBy);
  const bundled = process.env['COXSWAIN_THREADS'];
  return bundled === undefined ? new URL(`./${name}.ts`, startedBy) : pathToFileURL(join(bundled, `${name}.js`));
}
