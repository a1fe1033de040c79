import { CoxswainError } from '../../base/error.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';

/** The ASCII part of `isName`. Compiling Unicode classes takes 1 ms, which matters in a short-lived process. */
const ASCII_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

interface ConfiguredSpeaker {
  readonly name: string;
  readonly trigger: FeedbackTrigger | undefined;
}

/**
 * Checks the providers or the observers of one prompt or run.
 *
 * @throws CoxswainError "invalid-definition" if a name is not 1 to 64 letters, digits, spaces, `.`, `_` and `-` or is not
 *   unique, or a trigger is missing or out of range
 */
export function checkSpeakers(kind: 'feedback provider' | 'observer', speakers: readonly ConfiguredSpeaker[]): void {
  const names = new Set<string>();
  for (const { name, trigger } of speakers) {
    const owner = `${kind} ${JSON.stringify(name)}`;
    if (!isName(name))
      throw invalidDefinition(name, `${owner}: a name is 1 to 64 letters, digits, spaces, ".", "_" or "-"`);
    if (names.has(name)) throw invalidDefinition(name, `${owner} is configured twice; give each its own name`);
    if (trigger === undefined)
      throw invalidDefinition(name, `${owner} has no trigger; say when it runs, as in { everyNCalls: 10 }`);
    names.add(name);
    checkTrigger(owner, trigger);
  }
}

function invalidDefinition(name: string, message: string): CoxswainError {
  return new CoxswainError('invalid-definition', message, { details: { name } });
}

function isName(name: string): boolean {
  return ASCII_NAME.test(name) || /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(name);
}

/** Selects patterns that meet all conditions. `{}` selects every pattern of level `warn` and above. */
export interface PatternTrigger {
  readonly kind?: string;
  /** Minimum level; default `warn`. */
  readonly level?: PatternLevel;
  readonly stuck?: boolean;
}

/** Determines when a provider or observer runs. It runs if any condition is met. A trigger without conditions never fires. */
export interface FeedbackTrigger {
  /** Fires after this many tool calls since the last feedback; a whole number up to 1,000; 0: never. */
  readonly everyNCalls?: number;
  /** Fires after this many seconds since the last feedback, and immediately the first time; 0: never. */
  readonly everyNSeconds?: number;
  /** Fires if an event of this type was dispatched and no provider has run for it yet. */
  readonly onSessionEvent?: SessionEventKind;
  /**
   * Fires once per pattern and level. It fires again if the count doubled, if the pattern came back after it was cleared,
   * or after a compaction.
   */
  readonly onPattern?: PatternTrigger;
  /** Fires once per run, as soon as `Filesystem.exists` returns true for this path. */
  readonly onFileCreated?: string;
}

/** An event type that `defineEvent` created. */
export interface SessionEventKind {
  readonly eventName: string;
}

/** @throws CoxswainError "invalid-definition" for the first condition outside its range; the message names `owner` */
function checkTrigger(owner: string, trigger: FeedbackTrigger): void {
  const { everyNCalls, everyNSeconds, onFileCreated, onSessionEvent } = trigger;
  const limit = ToolInvoked.retain;
  if (everyNCalls !== undefined && !(Number.isInteger(everyNCalls) && everyNCalls >= 0 && everyNCalls <= limit)) {
    throw invalidTrigger(owner, 'everyNCalls', everyNCalls, `a whole number from 0 to ${limit} (calls retained)`);
  }
  if (everyNSeconds !== undefined && !(Number.isFinite(everyNSeconds) && everyNSeconds >= 0)) {
    throw invalidTrigger(owner, 'everyNSeconds', everyNSeconds, 'a number from 0');
  }
  // JavaScript callers may pass the name of the event or a class.
  const eventName: unknown = onSessionEvent?.eventName;
  if (onSessionEvent !== undefined && typeof eventName !== 'string') {
    throw invalidTrigger(owner, 'onSessionEvent', typeof onSessionEvent, 'an event type that defineEvent created');
  }
  if (onFileCreated === '') throw invalidTrigger(owner, 'onFileCreated', '', 'a path');
}

function invalidTrigger(owner: string, condition: string, value: number | string, expected: string): CoxswainError {
  return new CoxswainError(
    'invalid-definition',
    `trigger of ${owner}: ${condition} must be ${expected}, got ${JSON.stringify(value)}`,
    { details: { owner, condition, value } },
  );
}
