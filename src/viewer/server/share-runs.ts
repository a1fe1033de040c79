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
 * Yields runs as one file with one record per line, which every command can read. Secrets are replaced again with the rules of this
 * version. A damaged run ends at the damaged record.
 *
 * @throws CoxswainError if a store cannot be read
 */
export async function* sharedRuns(runs: readonly SharedRun[]): AsyncGenerator<string, void, void> {
  const redactor = createRedactor();
  for (const { reader, run } of runs) {
    for await (const record of undamagedRecords(reader, run)) {
      yield `${JSON.stringify(toStoredRecord({ ...record, payload: redactor.redact(record.payload) }))}\n`;
    }
  }
}
