import { type AdviceView, type LedgerEntry, recordAdvice } from '../advice/advice-ledger.ts';
import type { AdviceCandidate } from '../advice/advice.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { append, replace } from '../../session/slice-operation.ts';

/** A file trigger that has fired: it does not fire again in this run. */
export interface FiredFileTrigger {
  /** `source:name` of the speaker. */
  readonly speaker: string;
  readonly path: string;
}

/** A speaker ran after its file trigger fired. */
export const FileTriggerFired: EventType<FiredFileTrigger> = defineEvent<FiredFileTrigger>('file-trigger/fired');

/** The file triggers that have fired in this run. */
export const FiredFileTrigger: Slice<FiredFileTrigger> = defineSlice<FiredFileTrigger>('file-trigger').on(
  FileTriggerFired,
  (_view, { data }) => append(data),
);

/** For which pattern a speaker ran, and where the run stood. */
export interface PatternTriggerServed {
  readonly candidate: AdviceCandidate;
  readonly view: AdviceView;
}

/** A speaker ran after its pattern trigger fired. */
export const PatternTriggerFired: EventType<PatternTriggerServed> =
  defineEvent<PatternTriggerServed>('pattern-trigger/fired');

/** The patterns for which pattern triggers have fired, one entry a speaker and pattern. */
export const PatternTriggerLedger: Slice<LedgerEntry> = defineSlice<LedgerEntry>('pattern-trigger').on(
  PatternTriggerFired,
  (ledger, { data }) => replace(recordAdvice(ledger.all(), data.candidate, data.view)),
);
