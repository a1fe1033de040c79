import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';
import type { TrajectoryStore } from '../../src/core/store/trajectory-store.ts';
import { addRun, shellTurn, startOf } from './viewer-scene.ts';

/** A run of about `records` records: shell calls with outputs of all sizes, some of which fail. */
export async function addLargeRun(store: TrajectoryStore, runId: string, records: number): Promise<void> {
  const payloads: TrajectoryPayload[] = [startOf(runId, `A run of ${records} records`)];
  for (let at = 0; payloads.length < records; at += 1) {
    const lines = 1 + ((at * 7) % 23);
    const text = Array.from(
      { length: lines },
      (_, line) => `line ${line} of call ${at}: ${(at * 7_919 + line) % 10_007}`,
    );
    payloads.push(...shellTurn(at, `make part-${at}`, text.join('\n'), at % 17 === 0));
  }
  await addRun(store, runId, payloads.slice(0, records));
}
