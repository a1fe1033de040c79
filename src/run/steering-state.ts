import { EMPTY_LEDGER, type AdviceLedger } from '../steering/advice/advice-ledger.ts';
import { EMPTY_GUIDANCE_STATE, type GuidanceState } from '../steering/guidance/evaluate-guidance.ts';
import { EMPTY_SITUATION, type RunSituation } from './run-situation.ts';

/** A model's choice that the next evaluation will consider. */
export interface WaitingVerdict {
  readonly classifier: string;
  readonly instructionId: string;
  readonly confidence: number;
}

/** What of a run's steering is not in the session or the analysis. Plain JSON. */
export interface SteeringState {
  readonly situation: RunSituation;
  readonly ledger: AdviceLedger;
  readonly guidance: GuidanceState;
  /** Overruns by speaker key. */
  readonly overruns: Readonly<Record<string, number>>;
  readonly verdicts: readonly WaitingVerdict[];
}

/** Nothing was said yet. */
export const EMPTY_STEERING: SteeringState = {
  situation: EMPTY_SITUATION,
  ledger: EMPTY_LEDGER,
  guidance: EMPTY_GUIDANCE_STATE,
  overruns: {},
  verdicts: [],
};
