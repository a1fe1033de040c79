import type { Json, JsonObject } from '../base/json.ts';
import type { DERIVED, KINDS } from './kinds.ts';

/** Closed sets of words. */
export const CHOICES = {
  /** Certainty of a pattern. Advice about `hint` has severity info, about `warn` caution, about `strong` warning. */
  level: ['hint', 'warn', 'strong'],
  /** Severity of feedback, ascending. */
  severity: ['info', 'caution', 'warning'],
  /** Before the prompt is rendered, tools are chosen, or calls run; after a result; before the final response. */
  decision_point: ['pre_render', 'pre_tool_selection', 'pre_tool_execution', 'post_tool_result', 'pre_response'],
  /**
   * Class of a result: content, nothing, a mere "done", or a cause of failure. `silent`: it failed without output (a grep
   * without a match, `test`, `diff`), which proves little.
   */
  answer_class: [
    'content',
    'empty',
    'done',
    'auth',
    'permission',
    'rate-limit',
    'timeout',
    'network',
    'missing-program',
    'validation',
    'usage',
    'not-found',
    'syntax',
    'other',
    'silent',
  ],
  /** `refused` by a person, a policy, a sandbox or a hook; `cancelled`, or skipped, by the user or the host. */
  call_outcome: ['ok', 'failed', 'refused', 'cancelled'],
  /**
   * The limit that held advice back: of noise control (`cooldown`, `budget-spent`, `run-budget-spent`), of a guidance provider
   * (`max-per-turn`, `max-per-run`), of all guidance (`same-category`, `turn-full`), or a refused call (`after-refusal`).
   */
  held_reason: [
    'cooldown',
    'budget-spent',
    'run-budget-spent',
    'max-per-turn',
    'max-per-run',
    'same-category',
    'turn-full',
    'after-refusal',
  ],
  /** `shadow`: advice is computed and recorded but not given. */
  steering_mode: ['steer', 'shadow'],
  advice_response: ['accepted', 'rejected', 'noted'],
} as const;

/** Objects inside payloads that redaction does not change: counts, or computed from redacted records. */
export const FIGURES = {
  /** Limits or usage of a run. */
  budget: { calls: 'amount?', tokens: 'amount?', cost_usd: 'amount?' },
  /** Tokens and cost of one model response, as reported by the host. */
  token_usage: {
    input_tokens: 'count?',
    output_tokens: 'count?',
    cache_read_tokens: 'count?',
    cache_write_tokens: 'count?',
    /** Part of the cache writes: those that the provider keeps for an hour, at a higher price. */
    cache_write_hour_tokens: 'count?',
    /** Part of the output. */
    reasoning_tokens: 'count?',
    /** Size of the model's context window, if the host states it. No count of the response. */
    context_window_tokens: 'count?',
    cost_usd: 'amount?',
  },
  /** Annotations of a tool by its MCP server, as in the protocol. */
  tool_annotations: {
    readOnlyHint: 'flag?',
    destructiveHint: 'flag?',
    idempotentHint: 'flag?',
    openWorldHint: 'flag?',
  },
  /** The run's arm of an experiment. */
  holdout: {
    share: 'amount',
    /** For an experiment with runs as units: true if the advice of this run is withheld. Absent: episodes are the units. */
    withheld: 'flag?',
    /** Seed for the assignment of episodes. */
    seed: 'own?',
    /** The pre-declared outcome: a pattern is left within so many calls. */
    within_calls: 'count?',
  },
  /** A pattern in the trajectory. A loop, a run of errors, a stall. */
  pattern: {
    /** Such as `identical_call`; custom detectors add their own. */
    kind: 'own',
    /** Identifies a pattern among those of its kind, and across sightings. */
    identity: 'own',
    /** True if the agent is stuck, false if it is merely inefficient or drifting. */
    stuck: 'flag',
    level: 'level',
    /** 0 to 1. */
    confidence: 'amount',
    tool: 'own?',
    /** Target of its last call: the program of a shell call, the end of a path; at most 80 UTF-16 units. */
    subject: 'own?',
    /** Class of the result of its last call. */
    answer: 'answer_class?',
    /** 0-based indices of its calls, ascending, at most the last 32. */
    evidence: 'count[]',
    /** Index of its first call. */
    firstSeen: 'count',
    /** Index of the call at which it reached `warn`; null for a hint. */
    flaggedAt: 'count|null',
    /** Number of sightings: calls of a repetition, periods of a cycle, failures of a cascade. */
    occurrences: 'amount',
    /** Index of the call at which the agent had left it. */
    clearedAt: 'count?',
    /** Number of its calls that a person or a policy refused; absent if none. */
    refused: 'count?',
  },
  /** The pattern of a piece of advice, for noise control. */
  pattern_reference: { identity: 'own', level: 'level', occurrences: 'amount' },
} as const;

/** Other objects inside payloads. Unknown fields are allowed everywhere, kept, and redacted as content. */
export const SHAPES = {
  /** Identity of a run. A child run (a subagent) has its parent's id and one more level of depth. */
  identity: {
    run_id: 'own',
    /** The parent run. */
    parent_run_id: 'own?',
    /** 0 for a root run. */
    depth: 'count',
    /** The host's id of the conversation, such as a session id. */
    conversation_id: 'id?',
    agent_name: 'name?',
    model_id: 'name?',
  },
  /** Steering at the start of a run. */
  steering: {
    prompt_name: 'configured',
    /** Unix milliseconds. */
    deadline_at_unix_ms: 'deadline_from_0?',
    budget: 'budget?',
    /** Hash of the steering configuration: names, triggers, limits. */
    configuration_hash: 'own',
    mode: 'steering_mode',
    holdout: 'holdout?',
  },
  /** A call that has not run yet. */
  pending_call: { tool_call_id: 'id', tool_name: 'name', args: 'json' },
  /** An observation about the trajectory. */
  observation: {
    /** Groups observations: `loop`, `error_rate`, `drift`, `stall`. */
    category: 'configured',
    description: 'configured',
    /** Such as call indices. Recorded, never rendered. */
    evidence: 'configured?',
  },
  /** Feedback or an assessment. */
  spoken_advice: {
    summary: 'configured',
    observations: 'observation[]',
    suggestions: 'configured[]',
    severity: 'severity',
    /** Unix milliseconds. */
    atMs: 'amount',
    /** Number of earlier tool calls of this prompt. */
    callIndex: 'count',
    /** The prompt in force. */
    promptName: 'configured',
    /** The trajectory pattern it is about, if any. */
    pattern: 'pattern_reference?',
  },
  /** One piece of guidance. */
  injection: {
    /** Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
    key: 'configured',
    /** Text for the model: 1 to 500 characters. */
    content: 'configured',
    /** Lower comes first. */
    priority: 'unchecked_number',
    /** Groups guidance that may be contradictory: one item per category at a time. */
    category: 'configured',
  },
  /** The relevance of guidance. */
  classification: {
    relevant: 'flag',
    /** 0 to 1: how strongly the situation calls for the guidance. */
    confidence: 'amount',
    /** For people and records, not for the model; at most 200 characters. */
    reason: 'configured?',
    pattern: 'pattern_reference?',
  },
  /** Guidance with its delivery. */
  guidance: {
    providerName: 'configured',
    injection: 'injection',
    decisionPoint: 'decision_point',
    classification: 'classification',
    /** Unix milliseconds. */
    atMs: 'amount',
    delivered: 'flag',
    /** A word of the adapter, such as `tool-result`. */
    channel: 'name?',
    /** Why it was not delivered. */
    reason: 'name?',
  },
} as const;

/** The parts of a message, by `type`; an unknown type is kept as `other`. */
export const BLOCKS = {
  /** Text. */
  text: { text: 'content' },
  /** Reasoning of the model. */
  reasoning: { text: 'content' },
  /** A call by the model. */
  tool_call: { id: 'id', name: 'name', args: 'json' },
  /** An image: its URL, or the number and digest of its bytes. Only records of earlier versions have the bytes. */
  image: { media_type: 'name', bytes: 'count?', digest: 'own?', data_base64: 'picture?', url: 'content?' },
  /** A block of an unknown type. */
  other: { value: 'json' },
} as const;

/** The messages of a transcript in their final form, by `role`. */
export const MESSAGES = {
  /** A message of the system. */
  system: { content: 'message_content' },
  /** A message of the user. */
  user: { content: 'message_content' },
  /** A response of the model. */
  assistant: {
    content: 'message_content',
    stop_reason: 'name?',
    error_message: 'content?',
    model_id: 'name?',
    usage: 'token_usage?',
  },
  /** A result of a tool. */
  tool_result: { tool_call_id: 'id', tool_name: 'name?', content: 'message_content', is_error: 'flag?' },
} as const;

/** Each key is a word of field definitions. The words for texts say where a text comes from, for redaction. */
interface Plain {
  /** Text from the agent, its model, its tools or its user. */
  readonly content: string;
  /** A word of the host, such as a tool or an outcome. `structureOnly` keeps it if it has no blank; names of people are `content`. */
  readonly name: string;
  /** An id from the host, which connects records. */
  readonly id: string;
  /** A text from the configuration, or computed from redacted records. */
  readonly configured: string;
  /** An id or word from coxswain itself. It is never changed. */
  readonly own: string;
  /** The bytes of an image in base64. This content is never cut. */
  readonly picture: string;
  /** Content of any JSON type. */
  readonly json: Json;
  /** The result of a tool. */
  readonly result: Json;
  /** Content that is an object with any members. */
  readonly object: JsonObject;
  readonly flag: boolean;
  readonly true: true;
  /** A safe integer from 0. */
  readonly count: number;
  /** A finite number from 0: a duration or a time in milliseconds. */
  readonly amount: number;
  /** A finite number, possibly negative or fractional. */
  readonly number: number;
  /** Unix milliseconds. A host may state the time in another unit. */
  readonly deadline: number;
  readonly deadline_from_0: number;
  /** A number that is stored unchanged. */
  readonly unchecked_number: number;
}

type Shapes = typeof FIGURES & typeof SHAPES;

interface Meanings extends Plain {
  readonly message: VariantOf<typeof MESSAGES, 'role'>;
  /** Plain text or a list of parts. */
  readonly message_content: string | readonly Meanings['block'][];
  readonly block: VariantOf<typeof BLOCKS, 'type'>;
}

/** A type word for one value, without shapes and closed sets. */
export type PlainWord = keyof Plain | 'message' | 'message_content' | 'block';

/** A type word without `[]`, `|null` and `?`. */
export type Base = keyof Meanings | keyof typeof CHOICES | keyof Shapes;

/** The type of a field in a definition. */
export type Word = `${Base}${'' | '[]' | '|null'}${'' | '?'}`;

/** The fields of one kind of object. */
export type Fields = Readonly<Record<string, Word>>;

/** The value type of a word. */
export type ValueOf<W> = W extends `${infer Item}[]`
  ? readonly ValueOf<Item>[]
  : W extends `${infer Known}|null`
    ? ValueOf<Known> | null
    : W extends keyof Meanings
      ? Meanings[W]
      : W extends keyof typeof CHOICES
        ? (typeof CHOICES)[W][number]
        : W extends keyof Shapes
          ? ShapeOf<W>
          : never;

type ObjectOf<F> = {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? never : Name]: ValueOf<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? Name : never]?: F[Name] extends `${infer W}?`
    ? ValueOf<W>
    : never;
};

type Flat<T> = { readonly [Name in keyof T]: T[Name] };

export type ShapeOf<Name extends keyof Shapes> = Flat<ObjectOf<Shapes[Name]>>;

/** A union whose field `By` selects the variant. */
type VariantOf<Table, By extends string> = {
  [Name in keyof Table]: Flat<Readonly<Record<By, Name>> & ObjectOf<Table[Name]>>;
}[keyof Table];

export type KnownKind = keyof typeof KINDS;

/**
 * How the viewer presents a record.
 *
 * - `call`, `result`: a call and its result, shown together if possible
 * - `message`: a message or reasoning
 * - `advice`, `pattern`, `fault`: output of coxswain
 * - `event`: an important event of the run
 * - `detail`: bookkeeping, shown on request
 */
type Row = 'call' | 'result' | 'message' | 'advice' | 'pattern' | 'fault' | 'event' | 'detail';

export interface KindDefinition {
  readonly role: 'input' | 'asked' | 'advised' | 'derived';
  readonly row: Row;
  /** Set if the host emits an event with the same fields. */
  readonly emitted?: true;
  readonly fields: Fields;
}

/** The kinds whose definition has these properties. */
export type KindsThat<Says extends Partial<KindDefinition>> = {
  [Kind in KnownKind]: (typeof KINDS)[Kind] extends Says ? Kind : never;
}[KnownKind];

/** The payload type of a kind, or the union for several kinds. */
export type PayloadOf<Kind extends KnownKind> = {
  [One in Kind]: Flat<
    { readonly kind: One } & ObjectOf<(typeof KINDS)[One]['fields']> &
      ((typeof KINDS)[One]['role'] extends 'derived' ? ObjectOf<typeof DERIVED> : unknown)
  >;
}[Kind];

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** Kinds of record whose event has the same fields. */
export type EmittedKind = KindsThat<{ readonly emitted: true }>;

/** The event that a host emits for such a kind. */
export type EventOf<Kind extends EmittedKind> = {
  [One in Kind]: Flat<
    { readonly type: One } & {
      readonly [Name in keyof PayloadOf<One> as Name extends 'kind' ? never : CamelCase<Name>]: PayloadOf<One>[Name];
    }
  >;
}[Kind];
