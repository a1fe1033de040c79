import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RedirectFile {
  readonly path: string;
  dispose(): Promise<void>;
}

/**
 * Writes a page that redirects to an address and that only this user can read. A browser is started with the path of this page instead of
 * the address. The address contains a token, and all users of the machine can read the arguments of a process.
 *
 * @param url  without HTML special characters except `&`
 * @throws errors of the file system
 */
export async function writeRedirectFile(url: string): Promise<RedirectFile> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-open-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'open.html');
  const escapedUrl = url.replaceAll('&', '&amp;');
  const page = `<!doctype html><meta charset="utf-8"><title>coxswain</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${escapedUrl}">
<p><a href="${escapedUrl}">Open the viewer</a></p>
`;
  try {
    await writeFile(path, page, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { path, dispose };
}
