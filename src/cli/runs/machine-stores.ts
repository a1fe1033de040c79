import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { printableCut } from '../../core/base/printable.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { projectAt, projectFolderOf, projectStoreFile } from '../../core/node/git-folder.ts';
import { dataRoot, namesIn } from '../../core/node/state-places.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { checkRunQuery, compareRuns, toRunPage } from '../../core/store/run-page.ts';
import type { LiveReader, ReadQuery, RunPage, RunQuery } from '../../core/store/trajectory-store.ts';
import { storePath } from '../../stores/store-address.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { isMissing, openReadableStore, requireStore, shownStore, configuredStore } from './open-store.ts';

export interface MachineStore {
  readonly address: string;
  readonly project: string;
}

interface MachineQuery {
  /** A folder, or the name of a folder. Default: every project. */
  readonly project?: string | undefined;
  /** Unix milliseconds. Stores that have not changed since are left out, except that of this project. Default: 0. */
  readonly sinceMs?: number;
}

const STORE_FILE = /^(.+)-[0-9a-f]+\.db$/;

/** That of this project comes first. With `COXSWAIN_STORE`, only that one. */
export function machineStores({ project, sinceMs = 0 }: MachineQuery, terminal?: Terminal): readonly MachineStore[] {
  const { env } = process;
  const named = env['COXSWAIN_STORE'] ?? '';
  const { address, projectFolder } = configuredStore(terminal);
  const ownProject = projectAt(projectFolder) ?? projectFolder;
  if (named !== '') return [{ address: named, project: ownProject }];
  const folder = dataRoot({ env });
  const own = { address, project: ownProject };
  const others = namesIn(folder).flatMap((name): readonly MachineStore[] => {
    const file = join(folder, name);
    const [, projectName] = STORE_FILE.exec(name) ?? [];
    const isOther = projectName !== undefined && file !== storePath(address) && changedAtMs(file) >= sinceMs;
    return isOther ? [{ address: file, project: projectName }] : [];
  });
  const stores = [...(isMissing(address) ? [] : [own]), ...others];
  if (project === undefined) return stores;
  const isFolder = statSync(resolve(project), { throwIfNoEntry: false })?.isDirectory() === true;
  const namedFolder = isFolder ? projectFolderOf(resolve(project)) : undefined;
  const file = namedFolder === undefined ? undefined : projectStoreFile(namedFolder, { env });
  return stores.filter((one) => one.address === file || basename(one.project) === basename(project));
}

/** The project of recorded runs that name no folder: that of the store's name, else the folder of its file, else the database. */
export function projectOfStore(address: string): string {
  const path = storePath(address);
  if (path === undefined) return shownStore(address);
  const [, projectName] = STORE_FILE.exec(basename(path)) ?? [];
  const isKept = projectName !== undefined && dirname(resolve(path)) === dataRoot({ env: process.env });
  return isKept ? projectName : dirname(resolve(path));
}

/** Reads the stores of several projects as one. A run that two of them have is that of the first. */
export class MachineReader implements Pick<LiveReader, 'listRuns' | 'findRun' | 'readRun' | 'close'> {
  readonly stores: readonly (MachineStore & { readonly reader: LiveReader })[];

  constructor(stores: MachineReader['stores']) {
    this.stores = stores;
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    const { limit } = checkRunQuery(query);
    const runs = new Map<string, RunSummary>();
    let hasMore = false;
    // A cursor is a place in the order of runs, so that it is valid in every store.
    for (const { reader } of this.stores) {
      const page = await reader.listRuns(query);
      hasMore ||= page.next !== undefined;
      for (const run of page.runs) if (!runs.has(run.runId)) runs.set(run.runId, run);
    }
    const sorted = [...runs.values()].toSorted(compareRuns);
    return toRunPage(hasMore ? [...sorted, ...sorted.slice(-1)] : sorted, limit);
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    const store = await this.storeOf(runId);
    return store?.reader.findRun(runId);
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord> {
    const store = await this.storeOf(runId);
    if (store !== undefined) yield* store.reader.readRun(runId, query);
  }

  async storeOf(runId: string): Promise<MachineReader['stores'][number] | undefined> {
    if (this.stores.length <= 1) return this.stores[0];
    for (const store of this.stores) if ((await store.reader.findRun(runId)) !== undefined) return store;
    return undefined;
  }

  async close(): Promise<void> {
    for (const { reader } of this.stores) await reader.close();
  }
}

export const LISTS_SESSIONS = 'coxswain --since all --all lists the session files of this machine';

/** A store of another project that cannot be read is left out with a note. Throws CoxswainError without any store. */
export async function openMachineStores(query: MachineQuery, terminal: Terminal): Promise<MachineReader> {
  const stores = machineStores(query, terminal);
  const own = configuredStore().address;
  if (stores.length === 0 && query.project !== undefined) {
    const projects = machineStores({}).map(({ project }) => basename(project));
    throw unknownProject(query.project, projects);
  }
  if (stores.length === 0)
    await requireStore(own, `${LISTS_SESSIONS}, coxswain init records them from now on, coxswain demo a sample run`);
  const opened: (MachineStore & { reader: LiveReader })[] = [];
  for (const store of stores) {
    try {
      opened.push({ ...store, reader: await openReadableStore(store.address) });
    } catch (error) {
      if (store.address === own || stores.length === 1) throw error;
      terminal.complain(`coxswain: ${shownStore(store.address)} is left out: ${messageOf(error)}`);
    }
  }
  return new MachineReader(opened);
}

const MAX_NAMES = 12;

/** Returns true if `--project NAME` means the project in this folder: NAME is the folder, or the last parts of its path. */
export function isProjectNamed(folder: string, name: string): boolean {
  const isEnd = [folder, shownFolder(folder)].some((one) => one.replaceAll('\\', '/').endsWith(`/${name}`));
  return folder === resolve(name) || folder === name || isEnd;
}

/** A folder that is named after a hash shows its first 8 characters. */
export function shownFolder(folder: string): string {
  return folder.replaceAll(/(?<=[\\/])([\da-f]{8})[\da-f]{24,}(?=[\\/]|$)/g, '$1');
}

/** Returns the error for a `--project` that names no project, with the names that it takes. */
export function unknownProject(name: string, known: readonly string[]): CoxswainError {
  const names = [...new Set(known)].toSorted().map((one) => printableCut(one, 40));
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  const list = names.length === 0 ? '' : `; it takes: ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  return new CoxswainError('input-io', `no run of a project ${printableCut(name, 80)}${list}`);
}

/** SQLite writes changes to the write-ahead log first, so its time counts too. */
function changedAtMs(file: string): number {
  return Math.max(...[file, `${file}-wal`].map((one) => statSync(one, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}
