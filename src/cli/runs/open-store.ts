import { existsSync, lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { CoxswainError } from '../../core/base/error.ts';
import { openStore as openStoreAt, openStoreReader } from '../../stores/registry/open-store.ts';
import { shownAddress, storePath } from '../../stores/store-address.ts';
import type { LiveReader, TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { printable } from '../../core/base/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shellWord } from '../terminal/time-text.ts';
import { join } from 'node:path';
import { loadConfigSync } from '../../hosts/config/load-config.ts';
import { untrustedText, type LoadedConfig } from '../../hosts/config/loaded-config.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';
import { findSessions, type HostSessions } from '../../formats/find-sessions.ts';
import type { ModelPrices } from '../../core/records/answer-cost.ts';

/** From the command line, else from `COXSWAIN_STORE`, else the store of this project. */
export function storeNamed(address: string | undefined, terminal?: Terminal): string {
  const { COXSWAIN_STORE: fromEnv = '' } = process.env;
  return address ?? (fromEnv === '' ? configuredStore(terminal).address : fromEnv);
}

export function shownStore(address: string): string {
  return printable(shownAddress(address));
}

export function storeFlag(address: string): string {
  return address === configuredStore().address ? '' : ` --store ${shellWord(shownStore(address))}`;
}

/** Creates the store if it does not exist. */
export async function openStoreNamed(address: string): Promise<TrajectoryStore> {
  return openStoreAt(address);
}

/** @throws CoxswainError `input-io` with instructions to create a store if it does not exist */
export async function openExistingStore(address: string): Promise<TrajectoryStore> {
  await requireStore(address);
  return openStoreNamed(address);
}

/** Does not change the folder of the store, so it works on read-only media. */
export async function openReadableStore(address: string): Promise<LiveReader> {
  await requireStore(address);
  return openStoreReader(address);
}

export async function sourcesNamed(paths: readonly string[], terminal: Terminal): Promise<readonly string[]> {
  if (paths.length > 0) return paths;
  const address = storeNamed(undefined, terminal);
  await requireStore(
    address,
    'name files or folders of sessions, such as ~/.claude/projects, or record runs with coxswain init',
  );
  return [address];
}

/** False for a database: the first query shows whether it exists. */
export function isMissing(address: string): boolean {
  const path = storePath(address);
  return path !== undefined && !existsSync(path);
}

/** @param wayOut  what to do instead if this project has no recorded run */
export async function requireStore(address: string, wayOut?: string): Promise<void> {
  if (!isMissing(address)) return;
  const path = storePath(address);
  const shown = shownStore(address);
  const text =
    address === configuredStore().address
      ? `no run of this project is recorded yet${
          wayOut === undefined
            ? ', and this command reads recorded runs only: coxswain init records sessions from now on, coxswain demo a sample run, coxswain analyze PATH --store FILE those of files'
            : `: ${wayOut}`
        }`
      : `${shown}: no runs are recorded here yet; run: coxswain demo${storeFlag(address)}, or: coxswain analyze PATH --store ${shown}`;
  throw new CoxswainError('input-io', text, { details: { path } });
}

/** The store of earlier versions, in the project. */
export const OLD_STORE = '.coxswain/runs.db';

/** The same rules as those of the hook. */
export function loadProject(): { readonly projectFolder: string; readonly loaded: LoadedConfig } {
  const { env } = process;
  const projectFolder = projectFolderOf(process.cwd(), env['CLAUDE_PROJECT_DIR']);
  return { projectFolder, loaded: loadConfigSync({ projectFolder, env }) };
}

const notified = new WeakSet<Terminal>();

/** Reports a configuration that is ignored for lack of trust and records of an earlier version, once per terminal. */
export function configuredStore(terminal?: Terminal): { readonly address: string; readonly projectFolder: string } {
  const { loaded, projectFolder } = loadProject();
  if (terminal !== undefined && !notified.has(terminal)) {
    notified.add(terminal);
    for (const text of [untrustedText(loaded), oldRecordsText(projectFolder)])
      if (text !== undefined) terminal.complain(`coxswain: ${printable(text)}`);
  }
  return { address: loaded.resolved.store.address, projectFolder };
}

/** The sessions that agent programs keep on this machine, and in this project. */
export function machineSessions(project: string = configuredStore().projectFolder): readonly HostSessions[] {
  return findSessions({ home: homedir(), env: process.env, project });
}

export function oldRecordsText(projectFolder: string): string | undefined {
  if (lstatSync(join(projectFolder, OLD_STORE), { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return `${OLD_STORE} holds runs of an earlier version: move them with coxswain import ${OLD_STORE}, then delete it`;
}

let loadedPrices: { readonly folder: string; readonly prices: ModelPrices | undefined } | undefined;

export function pricesInForce(): ModelPrices | undefined {
  const folder = process.cwd();
  if (loadedPrices?.folder !== folder)
    loadedPrices = { folder, prices: loadConfigSync({ projectFolder: folder, env: process.env }).resolved.prices };
  return loadedPrices.prices;
}
