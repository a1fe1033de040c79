import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the page. */
export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** The built page: the same folder for the compiled server and for one that runs from source. */
export function pageFolder(): string {
  return fileURLToPath(new URL('../../../dist/viewer/', import.meta.url));
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
};

/**
 * A name of what the build makes: the document, and what lies in `assets`. No dot begins a name, so nothing leads up, and nothing is
 * escaped. What else lies in that folder, such as the compiled server, is not the page.
 */
const NAME = /^\/(?:index|assets\/[A-Za-z0-9_-][A-Za-z0-9._-]*)\.([a-z0-9]+)$/;

/**
 * Reads a file of the page.
 *
 * @param target  the path of the address as it came, not decoded
 * @returns undefined for everything that is not a regular file of the page: other names, other types, links, what lies elsewhere
 */
export async function findStaticFile(folder: string, target: string): Promise<StaticFile | undefined> {
  const name = target === '/' ? '/index.html' : target;
  const contentType = TYPES[NAME.exec(name)?.[1] ?? ''];
  if (contentType === undefined) return undefined;
  try {
    const path = join(folder, name);
    // A link anywhere on the way would lead elsewhere.
    if ((await realpath(path)) !== join(await realpath(folder), name)) return undefined;
    if (!(await stat(path)).isFile()) return undefined;
    return { bytes: new Uint8Array(await readFile(path)), contentType };
  } catch {
    // It is not there, or not for us to read: both are "not found" to whoever asks.
    return undefined;
  }
}
