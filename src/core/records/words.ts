import { PATTERN_WORDS } from './pattern-words.ts';
import { isJsonObject } from '../base/json.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** Words for people in place of identifiers, which only `--json` and files for machines have. `scripts/words-page.ts` lists them. */
export const WORDS = {
  // Its values are the names.
  pattern: Object.fromEntries(Object.entries(PATTERN_WORDS).map(([kind, { name }]) => [kind, name])) as Readonly<
    Record<string, string>
  >,
  level: { hint: 'perhaps', warn: 'likely', strong: 'for sure' },
  reason: {
    answered: 'answered',
    no_answer: 'no answer on record',
    rate_limit: 'rate limit',
    login: 'login failed',
    credit: 'out of credit',
    overloaded: 'model overloaded',
    server_error: 'model server error',
    context: 'context too long',
    output_limit: 'answer too long',
    turn_limit: 'turn limit',
    timeout: 'timed out',
    refused: 'refused by the model',
    invalid_request: 'request rejected',
    interrupted: 'interrupted',
    killed: 'its process ended',
    permission: 'waiting for permission',
  },
  cause: {
    running: 'no cause on record',
    requests: 'after failed requests',
    silent: 'no cause on record',
    announced: 'next step only announced',
    call_refused: 'after a refused call',
    calls: 'no call succeeded',
    source: 'as its source says',
  },
  outcome: {
    ended: 'finished',
    error: 'ended with an error',
    limit: 'stopped by a limit',
    aborted: 'stopped',
    interrupted: 'interrupted',
    unknown: 'no end on record',
  },
  delivery: {
    delivered: 'reached the agent',
    undelivered: 'did not reach the agent',
    withheld: 'held back by the experiment',
    shadowed: 'not said, only recorded',
    unsettled: 'not known whether it arrived',
  },
  held: {
    cooldown: 'it spoke a short time ago',
    'budget-spent': 'it has said all that it may about this pattern',
    'run-budget-spent': 'it has said all that it may in so many calls',
    'max-per-turn': 'it has spoken in this turn',
    'max-per-run': 'it has said all that it may in a run',
    'same-category': 'other guidance of its category came first',
    'turn-full': 'the turn had all the guidance that it may have',
    'after-refusal': 'a call was refused a short time ago',
  },
  check: {
    node: 'Node',
    sqlite: 'SQLite',
    claude: 'Claude Code',
    enabled: 'switched on',
    'hook paths': 'files of the hook',
    'hook alive': 'test of the hook',
    heartbeat: 'last event',
    'store permissions': 'who may read it',
    'free space': 'room on the disk',
    'store size': 'size of the store',
    'store contents': 'contents of the store',
    trust: 'not trusted yet',
    'spilled events': 'waiting events',
    watch: 'watch in the background',
    faults: 'problems noticed',
    'faults elsewhere': 'problems elsewhere',
  },
} as const;

export type EndReason = keyof (typeof WORDS)['reason'];

/** An unknown identifier, such as one of a custom detector, is returned with spaces for `_`. */
export function inWords(table: keyof typeof WORDS, id: string): string {
  const words: Readonly<Record<string, string>> = WORDS[table];
  return (Object.hasOwn(words, id) ? words[id] : undefined) ?? id.replaceAll('_', ' ');
}

/** The words for the cause of a failure: a reason, an outcome, or one of `WORDS.cause`. */
export function causeInWords(cause: string): string {
  const table = (['cause', 'reason', 'outcome'] as const).find((name) => Object.hasOwn(WORDS[name], cause));
  return inWords(table ?? 'reason', cause);
}

export const WITHHELD_REASON = 'withheld by experiment';

export const SHADOW_REASON = 'shadow mode';

/** The types of `session_event` records in which hosts report permissions. Their data may have a `tool`. */
export const PERMISSION_REQUESTED = 'permission_requested';
export const PERMISSION_DENIED = 'permission_denied';

/** Session events of the used share of a provider's limit: `used_percent`, `window_minutes`, perhaps `resets_at_unix_ms`. */
export const LIMIT_USED = 'limit_used';

/** The type of `session_event` records in which hosts report the end of a turn. Data: `duration_ms`, the time at work since the user's message, if known. */
export const TURN_WORKED = 'turn_worked';

/** The type of `session_event` records with the name that a session has in its host, given by a person or the host. Data: `name`. */
export const SESSION_NAMED = 'session_named';

/** The type of `session_event` records of a failed request that the host makes again. Data: `attempt`, from 1, and `error` if known. */
export const REQUEST_RETRIED = 'request_retried';

/** `''` if the run no longer waits; undefined for other records. */
export function waitText({ data, event_type: type }: PayloadOfEvent): string | undefined {
  const tool = isJsonObject(data) && typeof data['tool'] === 'string' ? ` to use ${data['tool']}` : '';
  if (type === PERMISSION_REQUESTED) return `${WORDS.reason.permission}${tool}`;
  return type === PERMISSION_DENIED ? '' : undefined;
}

type PayloadOfEvent = Extract<TrajectoryPayload, { readonly kind: 'session_event' }>;
