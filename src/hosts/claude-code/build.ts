import { readFileSync } from 'node:fs';

/** Put in where the hook is bundled into one file. */
declare const COXSWAIN_VERSION: string | undefined;

/** Tells builds apart: state that another one has saved is made anew from the records. */
export const BUILD: string =
  typeof COXSWAIN_VERSION === 'string'
    ? COXSWAIN_VERSION
    : String(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version);
