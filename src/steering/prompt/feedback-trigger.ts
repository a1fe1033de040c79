import { CoxswainError } from '../../base/error.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';

/** Which trajectory patterns a trigger means; each condition narrows, none means every pattern from `warn` up. */
export interface PatternTrigger {
  readonly kind?: string;
  /** The lowest level that counts; default `warn`. */
  readonly level?: PatternLevel;
  readonly stuck?: boolean;
}

/** When a provider or observer is asked. Conditions are OR-ed; a trigger without any never fires. */
export interface FeedbackTrigger {
  /** After so many tool calls since the last feedback; a whole number to 1,000; 0: never. */
  readonly everyNCalls?: number;
  /** So many seconds after the last feedback, at once when there was none; 0: never. */
  readonly everyNSeconds?: number;
  /** After an event of this type was dispatched, until some provider ran for it. */
  readonly onSessionEvent?: SessionEventKind;
  /** Once for each pattern and level; again when its count doubled, the agent fell back into it, or after a compaction. */
  readonly onPattern?: PatternTrigger;
  /** Once a run: as soon as there is a file at this path, written as `Filesystem.exists` reads it. */
  readonly onFileCreated?: string;
}

/** Any event type, as `defineEvent` makes it. */
export interface SessionEventKind {
  readonly eventName: string;
}

/**
 * @param owner whose trigger it is, for the message
 * @throws CoxswainError "invalid-definition" at the first condition outside its range
 */
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
