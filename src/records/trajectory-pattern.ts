/** How sure a pattern is: `hint` speaks as info, `warn` as caution, `strong` as warning. */
export type PatternLevel = 'hint' | 'warn' | 'strong';

/** What the calls of a pattern came back with: something, nothing, a mere "done", or a failure of one cause. */
export const ANSWER_CLASSES = [
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
  /** Failed and said nothing (a grep without a match, `test`, `diff`): proves little. */
  'silent',
] as const;

/** One of `ANSWER_CLASSES`. */
export type AnswerClass = (typeof ANSWER_CLASSES)[number];

/** Something the trajectory shows: a loop, a run of errors, a stall. Plain data, as stored and as printed. */
export interface TrajectoryPattern {
  /** What kind of pattern, such as `identical_call`; users' detectors add their own. */
  readonly kind: string;
  /** Tells two patterns of one kind apart, and one pattern seen again from a new one. */
  readonly identity: string;
  /** True when the agent is stuck, false when it is merely inefficient or drifting. */
  readonly stuck: boolean;
  readonly level: PatternLevel;
  /** 0 to 1. */
  readonly confidence: number;
  readonly tool?: string;
  /** What the last of its calls was about: the program of a shell call, a path's end; 80 UTF-16 units at most. */
  readonly subject?: string;
  /** What the last of its calls came back with. */
  readonly answer?: AnswerClass;
  /** 0-based indices of the calls that show it, ascending, the last 32 at most. */
  readonly evidence: readonly number[];
  /** Index of the first call that belongs to it. */
  readonly firstSeen: number;
  /** The call at which it reached `warn`; null while it is a hint. */
  readonly flaggedAt: number | null;
  /** How often it was seen: calls of a repetition, periods of a cycle, failures of a cascade. */
  readonly occurrences: number;
  /** The call at which the agent had left it. */
  readonly clearedAt?: number;
}
