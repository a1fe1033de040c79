import { toStoredRecord } from '../../records/encode-record.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import { createBreather } from '../../base/breather.ts';
import { isDamage } from './read-records.ts';
import type { RunReader } from './run-reader.ts';

/** A run that is shared. */
export interface SharedRun {
  readonly run: RunSummary;
  readonly reader: RunReader;
}

/**
 * Runs as one file of records, a line each, that every command reads; secrets are replaced once more by the rules of this version.
 * Of a damaged run what lies before the damage is given.
 *
 * @throws CoxswainError when a store cannot be read
 */
export async function* sharedRuns(runs: readonly SharedRun[]): AsyncGenerator<string, void, void> {
  const redactor = createRedactor();
  const breath = createBreather();
  for (const { reader, run } of runs) {
    try {
      for await (const record of reader.readRun(run.runId)) {
        const pause = breath();
        if (pause !== undefined) await pause;
        yield `${JSON.stringify(toStoredRecord({ ...record, payload: redactor.redact(record.payload) }))}\n`;
      }
    } catch (error) {
      if (!isDamage(error) && run.problem === undefined) throw error;
    }
  }
}
