import { existsSync } from 'node:fs';

import { viewOf } from '../../src/core/facts/run-view.ts';
import { projectStoreFile } from '../../src/core/node/git-folder.ts';
import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { importSource } from '../../src/formats/import-source.ts';
import { readRuns } from '../../src/formats/read-runs.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';

/** Facts by run id. */
export type Facts = Readonly<Record<string, RunFigures>>;

/** Facts of the runs in a project's store, as the hooks recorded them. */
export async function liveFacts(project: string, home: string): Promise<Facts> {
  const file = projectStoreFile(project, { env: { HOME: home } });
  if (!existsSync(file)) return {};
  const store = sqliteStore(file);
  try {
    const { runs } = await store.listRuns();
    const facts = runs.map(async ({ runId }) => [runId, factsOf(await Array.fromAsync(store.readRun(runId)))] as const);
    return Object.fromEntries(await Promise.all(facts));
  } finally {
    await store.close();
  }
}

/** Facts of the runs in session files. */
export async function importedFacts(files: readonly string[]): Promise<Facts> {
  const runs = new Map<string, TrajectoryRecord[]>();
  for (const file of files) {
    for await (const item of readRuns(importSource(file), { source: 'x' })) {
      if (item.type !== 'record') continue;
      const records = runs.get(item.run.id) ?? [];
      records.push(item.record);
      runs.set(item.run.id, records);
    }
  }
  return Object.fromEntries([...runs].map(([id, records]) => [id, factsOf(records)]));
}

interface RunFigures {
  readonly calls: string;
  readonly tokens: number | undefined;
  readonly costUsd: string | undefined;
  readonly turns: number;
  readonly compactions: number;
  readonly end: string | undefined;
}

/** What must be equal in both truths. */
function factsOf(records: readonly TrajectoryRecord[]): RunFigures {
  const view = viewOf(records);
  const calls = records.flatMap(({ payload }) =>
    payload.kind === 'tool_ended'
      ? [
          `${payload.tool_name}${payload.is_error ? '!' : ''}${payload.outcome === undefined ? '' : ` ${payload.outcome}`}`,
        ]
      : [],
  );
  const end = records.findLast(({ payload }) => payload.kind === 'run_ended')?.payload;
  const count = (kind: string): number => records.filter(({ payload }) => payload.kind === kind).length;
  return {
    // Calls of one answer may end in another order than the file has them.
    calls: calls.toSorted().join(', '),
    tokens: view.usage.tokens,
    costUsd: view.usage.costUsd?.toFixed(5),
    turns: count('turn_started'),
    compactions: count('compaction'),
    end: end?.kind === 'run_ended' ? `${end.outcome}, ${end.reason ?? ''}` : undefined,
  };
}
