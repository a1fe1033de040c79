import { readFileSync } from 'node:fs';

/** Defined by the bundler of the hook. */
declare const COXSWAIN_VERSION: string | undefined;

/** Identifies the build: state saved by another one is rebuilt from the records. */
export const BUILD: string =
  typeof COXSWAIN_VERSION === 'string'
    ? COXSWAIN_VERSION
    : String(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version);
