import { spawn } from 'node:child_process';

/**
 * Opens an address in the user's browser without a shell. All users of the machine can read the address.
 *
 * @returns false if no program is available; true does not guarantee that a browser opened
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
  // `start` is a command of the shell, not a program.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
