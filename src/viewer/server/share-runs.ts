import { toStoredRecord } from '../../records/encode-record.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import { undamagedRecords } from './read-records.ts';
import type { RunReader } from './run-reader.ts';

export interface SharedRun {
  readonly run: RunSummary;
  readonly reader: RunReader;
}

/**
 * Runs as one file of records, one per line, that every command reads. Secrets are replaced again with the rules of this version. A
 * damaged run ends at the damage.
 *
 * @throws CoxswainError when a store cannot be read
 */
export async function* sharedRuns(runs: readonly SharedRun[]): AsyncGenerator<string, void, void> {
  const redactor = createRedactor();
  for (const { reader, run } of runs) {
    for await (const record of undamagedRecords(reader, run)) {
      yield `${JSON.stringify(toStoredRecord({ ...record, payload: redactor.redact(record.payload) }))}\n`;
    }
  }
}
