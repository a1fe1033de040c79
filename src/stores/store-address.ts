import { invalidArgument } from '../core/base/error.ts';
import { present } from '../core/base/json.ts';
import { errcodeOf } from '../core/store/store-error.ts';

export type StoreKind = 'sqlite' | 'postgres' | 'memory';

type StoreAddress =
  | { readonly kind: 'path'; readonly path: string }
  /** `url` is for the client packages. It contains the password, but not `schema`. */
  | { readonly kind: 'postgres'; readonly url: string; readonly schema?: string }
  | { readonly kind: 'memory' };

const POSTGRES = /^postgres(?:ql)?:\/\//i;
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;
const SECRET_PARAMETER = /([?&](?:password|sslpassword|passfile|sslkey)=)[^&#]*/gi;

/** A path or `sqlite:PATH`, `postgres[ql]://…?schema=NAME`, or `memory:`; else CoxswainError `invalid-argument`. */
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
  throw invalidArgument(`${scheme}://… is not a store address; give a path, postgres://USER@HOST/DATABASE or memory:`);
}

export function storePath(address: string): string | undefined {
  const parsed = parseStoreAddress(address);
  return 'path' in parsed ? parsed.path : undefined;
}

/** Returns an address for display, in which `***` replaces a possible password. A path is unchanged. */
export function shownAddress(text: string): string {
  if (!POSTGRES.test(text)) return text;
  const start = text.indexOf('//') + 2;
  // A password may contain unescaped special characters, so the last @ ends it.
  const end = text.lastIndexOf('@');
  const userEnd = text.indexOf(':', start);
  const hasPassword = end > start && userEnd >= 0 && userEnd < end;
  const textWithoutPassword = hasPassword ? `${text.slice(0, userEnd)}:***${text.slice(end)}` : text;
  return textWithoutPassword.replace(SECRET_PARAMETER, '$1***');
}

const SQLITE_BUSY = 5;

/** Returns true if another connection holds the lock. The statement then had no effect and may be repeated. */
export function isBusy(thrown: unknown): boolean {
  return ((errcodeOf(thrown) ?? 0) & 0xff) === SQLITE_BUSY;
}

/** Waits a random short time for the transaction of another process, without blocking the event loop. */
export async function pauseForLock(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() < 0.5 ? 1 : 2));
}

/** @throws what `work` throws: any other error immediately, "busy" after `timeoutMs` */
export async function whileBusy<Result>(work: () => Result, timeoutMs: number): Promise<Result> {
  const startMs = performance.now();
  for (;;) {
    try {
      return work();
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() - startMs >= timeoutMs) throw thrown;
    }
    await pauseForLock();
  }
}
