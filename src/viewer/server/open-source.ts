import { stat } from 'node:fs/promises';

import { storeKindAt, type StoreKind } from '../../backtest/list-shards.ts';
import { CoxswainError, messageOf } from '../../base/error.ts';
import { openJsonlReader } from '../../store/jsonl/jsonl-reader.ts';
import { openSqliteReader } from '../../store/sqlite/sqlite-reader.ts';
import { readFiles } from './read-files.ts';
import type { RunReader } from './run-reader.ts';
import { ViewerSource } from './viewer-source.ts';

const OPEN: Readonly<Record<StoreKind, (path: string) => RunReader>> = {
  sqlite: openSqliteReader,
  jsonl: openJsonlReader,
};

/**
 * A store or files as a source; what it is, its content tells. A store is only read. Files are read into a store of their own.
 *
 * @param id  short, without slashes
 * @throws CoxswainError `input-io` when nothing is there
 */
export async function openSource(id: string, path: string): Promise<ViewerSource> {
  const kind = await storeKindAt(path);
  if (kind !== undefined) return new ViewerSource({ id, path, kind, open: async () => OPEN[kind](path) });
  if (!/[*?[{]/.test(path)) await requireThere(path);
  return new ViewerSource({ id, path, kind: 'files', open: () => readFiles(path) });
}

async function requireThere(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    throw new CoxswainError('input-io', `${path} cannot be opened: ${messageOf(error)}`, { cause: error });
  }
}
