import { spawn } from 'node:child_process';

/**
 * Opens an address in the browser of this user, without a shell: the address is one argument, which every user of the machine
 * can read.
 *
 * @returns false when there is no program for it; whether a browser came up cannot be told
 */
export async function openBrowser(url: string, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, windowsHide: true });
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // `start` is a word of the shell, not a program.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
