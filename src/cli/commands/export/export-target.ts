import { open } from 'node:fs/promises';

import { CoxswainError, messageOf } from '../../../base/error.ts';
import { checkOutput } from '../../../base/guarded-file.ts';
import { encodeRecord } from '../../../records/encode-record.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { openStore, shownStore } from '../../runs/open-store.ts';
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
  close(): Promise<void>;
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
 *   `openStore`
 */
export async function openTarget(
  { to, toStore }: { readonly to?: string; readonly toStore?: string },
  { terminal, onRefused }: TargetSetup,
): Promise<ExportTarget> {
  if (toStore !== undefined) {
    const store = await openStore(toStore);
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

async function openFileTarget(path: string): Promise<ExportTarget> {
  checkOutput(path);
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const reason = isThere ? 'is there already; give another name or remove it' : `cannot be made: ${messageOf(error)}`;
    throw new CoxswainError('input-io', `${printable(path)}: ${reason}`);
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
    close: async () => {
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    },
  };
}
