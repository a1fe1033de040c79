import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file that leads a browser to an address. */
export interface RedirectFile {
  readonly path: string;
  /** Deletes it. */
  dispose(): Promise<void>;
}

/**
 * Writes a page that only this user can read and that leads to an address. A browser is started with its path: the arguments
 * of a process can be read by every user of the machine, so a token must not be among them.
 *
 * @param url  with nothing in it that HTML gives a meaning to but `&`
 * @throws what the file system refuses
 */
export async function writeRedirectFile(url: string): Promise<RedirectFile> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-open-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'open.html');
  const shown = url.replaceAll('&', '&amp;');
  const page = `<!doctype html><meta charset="utf-8"><title>coxswain</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${shown}">
<p><a href="${shown}">Open the viewer</a></p>
`;
  try {
    await writeFile(path, page, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { path, dispose };
}
