import { resolve } from 'node:path';

import { isMissing, nodeFileSystem } from '../../src/store/file-system.ts';
import { JsonlReader } from '../../src/store/jsonl/jsonl-reader.ts';
import { JsonlSink, type JsonlPorts, type JsonlSinkOptions } from '../../src/store/jsonl/jsonl-sink.ts';
import { takeRunLock } from '../../src/store/jsonl/run-lock.ts';
import type { LiveReader, TrajectorySink } from '../../src/store/trajectory-store.ts';

/** A sink and a reader of the same folder. */
export type LinesStore = TrajectorySink & Pick<LiveReader, 'listRuns' | 'findRun' | 'readRun' | 'verify'>;

/** Opens both; `close` closes both. */
export function linesStore(folder: string, options: JsonlSinkOptions = {}, ports?: JsonlPorts): LinesStore {
  const { fileSystem, takeLock } = ports ?? { fileSystem: nodeFileSystem, takeLock: takeRunLock };
  const path = resolve(folder);
  const sink = new JsonlSink(path, options, { fileSystem, takeLock });
  const reader = new JsonlReader(path, fileSystem);
  const isThere = (): Promise<boolean> =>
    fileSystem.list(path).then(
      () => true,
      (thrown: unknown) => !isMissing(thrown),
    );
  return {
    append: (batch) => sink.append(batch),
    flush: () => sink.flush(),
    // The sink makes the folder with its first record.
    listRuns: async (query) => ((await isThere()) ? reader.listRuns(query) : { runs: [] }),
    findRun: (runId) => reader.findRun(runId),
    readRun: (runId, query) => reader.readRun(runId, query),
    async *verify() {
      if (await isThere()) yield* reader.verify();
    },
    close: async () => {
      await reader.close();
      await sink.close();
    },
  };
}
