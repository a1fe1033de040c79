import { link, open, rm } from 'node:fs/promises';

import { CoxswainError, messageOf } from '../../../base/error.ts';
import { checkOutput, lookAt } from '../../../base/guarded-file.ts';
import { encodeRecord } from '../../../records/encode-record.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { openStoreNamed, shownStore } from '../../runs/open-store.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { RunRecorder, type RefusedRun } from '../../runs/run-recorder.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const WRITE_CHARS = 1024 * 1024;

/** Where records are exported to. */
export interface ExportTarget {
  /** The file or store, as it may be shown; undefined for standard output. */
  readonly name: string | undefined;
  add(runId: string, record: TrajectoryRecord): Promise<void>;
  /** All records of a run were added. */
  end(runId: string): Promise<void>;
  /** @param isWhole  everything was added; false after a failure */
  close(isWhole: boolean): Promise<void>;
}

/** What a target needs. */
export interface TargetSetup {
  readonly terminal: Terminal;
  /** Told of runs that a store refuses. */
  readonly onRefused: (refused: RefusedRun) => void;
}

/**
 * Opens standard output (default, or `-`), a new file, or a store.
 *
 * @throws CoxswainError `input-io` when the file is there already or cannot be made; `unsafe-path` as `checkOutput`; as
 *   `openStoreNamed`
 */
export async function openTarget(
  { to, toStore }: { readonly to?: string; readonly toStore?: string },
  { terminal, onRefused }: TargetSetup,
): Promise<ExportTarget> {
  if (toStore !== undefined) {
    const store = await openStoreNamed(toStore);
    const recorder = new RunRecorder(store, onRefused, { isCopy: true });
    return {
      name: shownStore(toStore),
      add: (runId, record) => recorder.add(runId, record),
      end: (runId) => recorder.end(runId),
      close: () => store.close(),
    };
  }
  if (to !== undefined && to !== '-') return openFileTarget(to);
  return {
    name: undefined,
    add: (_runId, record) => terminal.write(printableJson(encodeRecord(record))),
    end: async () => {},
    close: async () => {},
  };
}

/** The file has its name only when it is whole: until then it is written beside, and a failure leaves nothing. */
async function openFileTarget(path: string): Promise<ExportTarget> {
  checkOutput(path);
  if (lookAt(path) !== undefined) throw thereAlready(path);
  const unfinished = `${path}.${process.pid}.part`;
  const file = await open(unfinished, 'wx', 0o600).catch((error: unknown) => {
    throw new CoxswainError('input-io', `${printable(path)}: cannot be made: ${messageOf(error)}`);
  });
  let waiting = '';
  const write = async (): Promise<void> => {
    const text = waiting;
    waiting = '';
    await file.appendFile(text);
  };
  return {
    name: path,
    add: async (_runId, record) => {
      waiting += `${encodeRecord(record)}\n`;
      if (waiting.length > WRITE_CHARS) await write();
    },
    end: write,
    close: async (isWhole) => {
      try {
        if (isWhole) await file.sync();
      } finally {
        await file.close();
        // Unlike a rename, a link never replaces a file that somebody else made meanwhile.
        if (isWhole) await link(unfinished, path).catch((error: unknown) => Promise.reject(whyNotNamed(path, error)));
        await rm(unfinished, { force: true });
      }
    },
  };
}

function whyNotNamed(path: string, error: unknown): CoxswainError {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return thereAlready(path);
  return new CoxswainError('input-io', `${printable(path)}: cannot be made: ${messageOf(error)}`, { cause: error });
}

function thereAlready(path: string): CoxswainError {
  return new CoxswainError('input-io', `${printable(path)}: is there already; give another name or remove it`);
}
