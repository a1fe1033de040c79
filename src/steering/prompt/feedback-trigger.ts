import { CoxswainError } from '../../base/error.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';

/** Selects trajectory patterns: those that meet all conditions; `{}` selects every pattern from `warn` up. */
export interface PatternTrigger {
  readonly kind?: string;
  /** Minimum level; default `warn`. */
  readonly level?: PatternLevel;
  readonly stuck?: boolean;
}

/** When a provider or observer runs. Conditions are OR-ed; without any it never fires. */
export interface FeedbackTrigger {
  /** Tool calls since the last feedback; a whole number up to 1,000; 0: never. */
  readonly everyNCalls?: number;
  /** Seconds since the last feedback; the first time at once; 0: never. */
  readonly everyNSeconds?: number;
  /** An event of this type was dispatched and no provider has run for it yet. */
  readonly onSessionEvent?: SessionEventKind;
  /** Once per pattern and level; again if its count doubled, it came back after it was cleared, or after a compaction. */
  readonly onPattern?: PatternTrigger;
  /** Once per run, as soon as `Filesystem.exists` returns true for this path. */
  readonly onFileCreated?: string;
}

/** An event type of `defineEvent`. */
export interface SessionEventKind {
  readonly eventName: string;
}

/** @throws CoxswainError "invalid-definition" for the first condition outside its range; `owner` is for its message */
export function checkTrigger(owner: string, trigger: FeedbackTrigger): void {
  const { everyNCalls, everyNSeconds, onFileCreated } = trigger;
  const limit = ToolInvoked.retain;
  if (everyNCalls !== undefined && !(Number.isInteger(everyNCalls) && everyNCalls >= 0 && everyNCalls <= limit)) {
    throw wrong(owner, 'everyNCalls', everyNCalls, `a whole number from 0 to ${limit} (calls retained)`);
  }
  if (everyNSeconds !== undefined && !(Number.isFinite(everyNSeconds) && everyNSeconds >= 0)) {
    throw wrong(owner, 'everyNSeconds', everyNSeconds, 'a number from 0');
  }
  if (onFileCreated === '') throw wrong(owner, 'onFileCreated', '', 'a path');
}

function wrong(owner: string, condition: string, value: number | string, expected: string): CoxswainError {
  return new CoxswainError(
    'invalid-definition',
    `trigger of ${owner}: ${condition} must be ${expected}, got ${JSON.stringify(value)}`,
    { details: { owner, condition, value } },
  );
}
