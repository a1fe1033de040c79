import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { memoryStore } from '../store/memory-store.ts';
import type { TrajectorySink, TrajectoryStore } from '../store/trajectory-store.ts';

/** A sink that keeps records in memory, for tests and for reading whole trajectories. */
export class InMemoryTrajectorySink implements TrajectorySink {
  readonly #store: TrajectoryStore = memoryStore();
  /** Run ids in order of first appearance. */
  readonly #runIds = new Set<string>();

  /** Adds one record. @throws as `append` */
  async record(record: TrajectoryRecord): Promise<void> {
    await this.append([record]);
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    const lastSeq = await this.#store.append(batch);
    this.#runIds.add(batch[0]?.run_id ?? '');
    return lastSeq;
  }

  /** Returns all records, by run in order of first appearance, then by `seq`. */
  async snapshot(): Promise<readonly TrajectoryRecord[]> {
    const records: TrajectoryRecord[] = [];
    for (const runId of this.#runIds) {
      for await (const record of this.#store.readRun(runId)) records.push(record);
    }
    return records;
  }

  async length(): Promise<number> {
    return (await this.snapshot()).length;
  }

  async isEmpty(): Promise<boolean> {
    return this.#runIds.size === 0;
  }

  async flush(): Promise<void> {
    await this.#store.flush();
  }

  async close(): Promise<void> {
    this.#runIds.clear();
    await this.#store.close();
  }
}
