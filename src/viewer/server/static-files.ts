import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** The folder of the built page, both for the compiled server and from source. */
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
 * Paths of the page: the document and the files in `assets`. No leading dots and no escapes, so nothing outside and none of the other
 * files in the folder, such as the compiled server.
 */
const NAME = /^\/(?:index|assets\/[A-Za-z0-9_-][A-Za-z0-9._-]*)\.([a-z0-9]+)$/;

/**
 * Reads a file of the page.
 *
 * @param target  the path of the request, not decoded
 * @returns undefined unless it is a regular file of the page: for other names and types, and for links
 */
export async function findStaticFile(folder: string, target: string): Promise<StaticFile | undefined> {
  const name = target === '/' ? '/index.html' : target;
  const contentType = TYPES[NAME.exec(name)?.[1] ?? ''];
  if (contentType === undefined) return undefined;
  try {
    const path = join(folder, name);
    // Any link in the path could lead elsewhere.
    if ((await realpath(path)) !== join(await realpath(folder), name)) return undefined;
    if (!(await stat(path)).isFile()) return undefined;
    return { bytes: new Uint8Array(await readFile(path)), contentType };
  } catch {
    // Missing or unreadable: both are "not found".
    return undefined;
  }
}
