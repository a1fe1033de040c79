import { invalidArgument } from '../base/error.ts';
import { present } from '../base/present.ts';

/** The kinds of store that an address may lead to. Of `jsonl`, which `jsonlSink` writes, all but the sink itself only read. */
export type StoreKind = 'sqlite' | 'postgres' | 'memory' | 'jsonl';

/** Where a store is, as `parseStoreAddress` reads it. */
export type StoreAddress =
  /** A SQLite file, or a folder of JSON lines. */
  | { readonly kind: 'path'; readonly path: string }
  /** `url` is as the client packages take it, with its password and without `schema`. */
  | { readonly kind: 'postgres'; readonly url: string; readonly schema?: string }
  /** As long as whoever opened it. */
  | { readonly kind: 'memory' };

const POSTGRES = /^postgres(?:ql)?:\/\//i;
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;
const SECRET_PARAMETER = /([?&](?:password|sslpassword|passfile|sslkey)=)[^&#]*/gi;

/**
 * Reads the address of a store: a path (also as `sqlite:PATH`), `postgres://…` or `postgresql://…` (with `?schema=NAME` for
 * another schema than `coxswain`), or `memory:`.
 *
 * @throws CoxswainError `invalid-argument` for another scheme
 */
export function parseStoreAddress(text: string): StoreAddress {
  if (text === 'memory:') return { kind: 'memory' };
  if (POSTGRES.test(text)) {
    const schema = /[?&]schema=([^&#]*)/i.exec(text)?.[1];
    const url = text.replace(/([?&])schema=[^&#]*(&?)/i, (_all, before: string, after: string) =>
      after === '' ? '' : before,
    );
    return { kind: 'postgres', url, ...present({ schema: schema === '' ? undefined : schema }) };
  }
  const path = text.replace(/^sqlite:(?:\/\/(?=\/))?/i, '');
  if (!SCHEME.test(path)) return { kind: 'path', path };
  const scheme = text.slice(0, text.indexOf(':'));
  throw invalidArgument(
    `${scheme}://… is no address of a store; give a path, postgres://USER@HOST/DATABASE or memory:`,
  );
}

/** True for the address of a database server, which is no path. */
export function isDatabaseAddress(text: string): boolean {
  return POSTGRES.test(text);
}

/** An address as it may be shown: `***` in the place of what could be a password. A path stays as it is. */
export function shownAddress(text: string): string {
  if (!isDatabaseAddress(text)) return text;
  const start = text.indexOf('//') + 2;
  // A password may hold any mark that was not escaped, so everything up to the last @ counts.
  const end = text.lastIndexOf('@');
  const userEnd = text.indexOf(':', start);
  const hasPassword = end > start && userEnd >= 0 && userEnd < end;
  const shown = hasPassword ? `${text.slice(0, userEnd)}:***${text.slice(end)}` : text;
  return shown.replace(SECRET_PARAMETER, '$1***');
}
