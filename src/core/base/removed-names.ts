/** Removed options, fields and values of the configuration, with what to use instead. */
const REMOVED: Readonly<Record<string, string>> = {
  context_degradation: 'no other detector reports repeated reads; stall reports a run that brings nothing new',
  gates: 'give your tools to the SDK per step with prepareStep and activeTools; coxswain advises and never blocks',
  jsonl: 'store records in a SQLite file and write JSON lines with coxswain export, or with a sink of your own',
  outputEscalation: 'set maxOutputTokens in your request',
  maxSpillBytes: 'records beyond the queue become a gap; maxQueued and maxQueuedBytes set its size',
  spill: 'use drop-newest, or wait with a larger maxQueued',
  tool_avoidance: 'tell the agent which tools to prefer in its instructions',
  transforms: 'change the messages of a step with prepareStep of the SDK',
  spillFolder: 'records beyond the queue become a gap; maxQueued and maxQueuedBytes set its size',
};

/** The clause for an error about a removed name; undefined for any other name. */
export function removedText(name: string): string | undefined {
  return Object.hasOwn(REMOVED, name) ? `${name} was removed; ${REMOVED[name]}` : undefined;
}
