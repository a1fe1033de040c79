import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import { loadConfigSync } from '../../hosts/config/load-config.ts';
import { untrustedText, type LoadedConfig } from '../../hosts/config/loaded-config.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';
import { printable } from '../../core/base/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The store of earlier versions, in the project. */
export const OLD_STORE = '.coxswain/runs.db';

/**
 * Returns the project folder and its configuration, using the same rules as the hook. @throws CoxswainError the errors of
 * `loadConfigSync`
 */
export function loadProject(): { readonly projectFolder: string; readonly loaded: LoadedConfig } {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  return { projectFolder, loaded: loadConfigSync({ projectFolder, env }) };
}

const notified = new WeakSet<Terminal>();

/**
 * Returns the store address and the project folder. Reports a configuration that is ignored for lack of trust and records of an
 * earlier version, once per terminal. @throws CoxswainError the errors of `loadConfigSync`
 */
export function configuredStore(terminal?: Terminal): { readonly address: string; readonly projectFolder: string } {
  const { loaded, projectFolder } = loadProject();
  if (terminal !== undefined && !notified.has(terminal)) {
    notified.add(terminal);
    for (const text of [untrustedText(loaded), oldRecordsText(projectFolder)])
      if (text !== undefined) terminal.complain(`coxswain: ${printable(text)}`);
  }
  return { address: loaded.resolved.store.address, projectFolder };
}

/** Returns a line about a file with records of an earlier version, which is not opened; undefined if there is none. */
export function oldRecordsText(projectFolder: string): string | undefined {
  if (lstatSync(join(projectFolder, OLD_STORE), { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return `${OLD_STORE} holds runs of an earlier version: move them with coxswain import ${OLD_STORE}, then delete it`;
}
