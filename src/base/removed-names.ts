/** Removed options, fields and values of the configuration, with what to use instead. */
const REMOVED: Readonly<Record<string, string>> = {
  jsonl: 'store records in a SQLite file and write JSON lines with coxswain export, or with a sink of your own',
  maxSpillBytes: 'records beyond the queue become a gap; maxQueued and maxQueuedBytes set its size',
  spill: 'use drop-newest, or wait with a larger maxQueued',
  spillFolder: 'records beyond the queue become a gap; maxQueued and maxQueuedBytes set its size',
};

/** The clause for an error about a removed name; undefined for any other name. */
export function removedText(name: string): string | undefined {
  return Object.hasOwn(REMOVED, name) ? `${name} was removed; ${REMOVED[name]}` : undefined;
}
