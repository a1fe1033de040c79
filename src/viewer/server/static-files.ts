import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { CoxswainError } from '../../core/base/error.ts';
import { viewerFault } from './viewer-fault.ts';

export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

export function pageFolder(): string {
  return fileURLToPath(new URL('../../../dist/viewer/', import.meta.url));
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/**
 * The valid paths of the page: the document and the files in `assets`. Leading dots and escapes are not allowed. The pattern therefore
 * excludes everything outside the folder, and other files in it such as the compiled server.
 */
const NAME = /^\/(?:index|assets\/[A-Za-z0-9_-][A-Za-z0-9._-]*)\.([a-z0-9]+)$/;

/** Returns undefined for any other name or type, a link, and no regular file. `target` is not decoded. */
export async function findStaticFile(folder: string, target: string): Promise<StaticFile | undefined> {
  const name = target === '/' ? '/index.html' : target;
  const contentType = TYPES[NAME.exec(name)?.[1] ?? ''];
  if (contentType === undefined) return undefined;
  try {
    const path = join(folder, name);
    // A symbolic link in the path could lead outside the folder.
    if ((await realpath(path)) !== join(await realpath(folder), name)) return undefined;
    if (!(await stat(path)).isFile()) return undefined;
    return { bytes: new Uint8Array(await readFile(path)), contentType };
  } catch {
    // The file is missing or unreadable. Both count as "not found".
    return undefined;
  }
}

/** @throws CoxswainError as `pageMissing` */
export async function readPage(folder: string): Promise<{ readonly script: string; readonly style: string }> {
  try {
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    const [script, style] = ['js', 'css'].map(
      (type) => new RegExp(`"/(assets/[\\w-]+\\.${type})"`).exec(page)?.[1] ?? '',
    );
    return {
      script: await readFile(join(folder, script ?? ''), 'utf8'),
      style: await readFile(join(folder, style ?? ''), 'utf8'),
    };
  } catch {
    throw pageMissing(folder);
  }
}

export function pageMissing(folder: string): CoxswainError {
  return viewerFault('not-found', `the page is not built: no index.html in ${folder}`, 'Build it: npm run build');
}
