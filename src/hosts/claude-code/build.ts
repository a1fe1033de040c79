import { readFileSync } from 'node:fs';

/** The bundler of the hook replaces this constant. */
declare const COXSWAIN_VERSION: string | undefined;

/** Identifies the build of coxswain. A process that finds state saved by another build rebuilds that state from the records. */
export const BUILD: string =
  typeof COXSWAIN_VERSION === 'string'
    ? COXSWAIN_VERSION
    : String(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version);
