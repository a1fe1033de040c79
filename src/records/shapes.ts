/** Closed sets of words, by the name that stands in a definition. */
export const CHOICES = {
  /** How sure a pattern is: `hint` speaks as info, `warn` as caution, `strong` as warning. */
  level: ['hint', 'warn', 'strong'],
  /** How much a piece of feedback matters, ascending. */
  severity: ['info', 'caution', 'warning'],
  /**
   * Where in an agent's cycle guidance may be said: before the prompt is rendered, before the model chooses tools, after its
   * calls are parsed and before they run, after a tool came back, before the final answer is put together.
   */
  decision_point: ['pre_render', 'pre_tool_selection', 'pre_tool_execution', 'post_tool_result', 'pre_response'],
  /**
   * What a call came back with: something, nothing, a mere "done", or a failure of one cause. `silent`: it failed and said
   * nothing (a grep without a match, `test`, `diff`), which proves little.
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
  /** `shadow`: everything is worked out and recorded, nothing is said. */
  steering_mode: ['steer', 'shadow'],
  advice_response: ['accepted', 'rejected', 'noted'],
} as const;

/** Objects inside payloads that redaction leaves as they are: counted, or worked out from records that were redacted. */
export const FIGURES = {
  /** Limits of a run, or what was used of them. */
  budget: { calls: 'amount?', tokens: 'amount?', cost_usd: 'amount?' },
  /** Tokens and cost of one model answer, where the host reports them. */
  token_usage: {
    input_tokens: 'count?',
    output_tokens: 'count?',
    cache_read_tokens: 'count?',
    cache_write_tokens: 'count?',
    /** Those of the output that are reasoning. */
    reasoning_tokens: 'count?',
    cost_usd: 'amount?',
  },
  /** What an MCP server says of a tool, in the words of the protocol. */
  tool_annotations: {
    readOnlyHint: 'flag?',
    destructiveHint: 'flag?',
    idempotentHint: 'flag?',
    openWorldHint: 'flag?',
  },
  /** The run's part in an experiment. */
  holdout: {
    share: 'amount',
    /** The run was drawn as a whole: true where its advice is recorded and not given. Absent: each episode is drawn. */
    withheld: 'flag?',
    /** What episodes are drawn with. */
    seed: 'own?',
    /** The outcome that was declared beforehand: a pattern is left within so many calls. */
    within_calls: 'count?',
  },
  /** Something the trajectory shows. A loop, a run of errors, a stall. */
  pattern: {
    /** What kind of pattern, such as `identical_call`; users' detectors add their own. */
    kind: 'own',
    /** Tells two patterns of one kind apart, and one pattern seen again from a new one. */
    identity: 'own',
    /** True when the agent is stuck, false when it is merely inefficient or drifting. */
    stuck: 'flag',
    level: 'level',
    /** 0 to 1. */
    confidence: 'amount',
    tool: 'own?',
    /** What the last of its calls was about: the program of a shell call, a path's end; 80 UTF-16 units at most. */
    subject: 'own?',
    /** What the last of its calls came back with. */
    answer: 'answer_class?',
    /** 0-based indices of the calls that show it, ascending, the last 32 at most. */
    evidence: 'count[]',
    /** Index of the first call that belongs to it. */
    firstSeen: 'count',
    /** The call at which it reached `warn`; null while it is a hint. */
    flaggedAt: 'count|null',
    /** How often it was seen: calls of a repetition, periods of a cycle, failures of a cascade. */
    occurrences: 'amount',
    /** The call at which the agent had left it. */
    clearedAt: 'count?',
  },
  /** The pattern that advice speaks of, so that feedback and guidance do not both speak of it. */
  pattern_reference: { identity: 'own', level: 'level', occurrences: 'amount' },
} as const;

/** Other objects inside payloads. Fields that have no name here are allowed everywhere, kept, and redacted as content. */
export const SHAPES = {
  /** Who a run is. A child run (a subagent) names its parent and lies one level deeper. */
  identity: {
    run_id: 'own',
    /** The run that started it. */
    parent_run_id: 'own?',
    /** 0 for a root run. */
    depth: 'count',
    /** The host's own name for the conversation, such as a session id. */
    conversation_id: 'id?',
    agent_name: 'name?',
    model_id: 'name?',
  },
  /** How the steering of a run began. */
  steering: {
    prompt_name: 'configured',
    /** Unix milliseconds. */
    deadline_at_unix_ms: 'deadline_from_0?',
    budget: 'budget?',
    /** Fingerprint of the steering configuration: names, triggers, limits. */
    configuration_hash: 'own',
    mode: 'steering_mode',
    holdout: 'holdout?',
  },
  /** A call that the model asked for and that has not run yet. */
  pending_call: { tool_call_id: 'id', tool_name: 'name', args: 'json' },
  /** One thing that was seen in the trajectory. */
  observation: {
    /** Groups observations: `loop`, `error_rate`, `drift`, `stall`. */
    category: 'configured',
    description: 'configured',
    /** What shows it, such as call indices. Recorded, never rendered. */
    evidence: 'configured?',
  },
  /** What any speaker produced, whoever it was. */
  spoken_advice: {
    summary: 'configured',
    observations: 'observation[]',
    suggestions: 'configured[]',
    severity: 'severity',
    /** Unix milliseconds when it was produced. */
    atMs: 'amount',
    /** Tool calls that had come back under this prompt by then. */
    callIndex: 'count',
    /** The prompt in force. */
    promptName: 'configured',
    /** The trajectory pattern it speaks of, where it speaks of one. */
    pattern: 'pattern_reference?',
  },
  /** One piece of guidance. */
  injection: {
    /** Names the instruction; matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
    key: 'configured',
    /** What the model reads: 1 to 500 characters. */
    content: 'configured',
    /** Lower comes first. */
    priority: 'unchecked_number',
    /** Groups what may contradict each other: one a category is said at a time. */
    category: 'configured',
  },
  /** Whether guidance applies now, and why. */
  classification: {
    relevant: 'flag',
    /** 0 to 1: how strongly the situation calls for the guidance. */
    confidence: 'amount',
    /** For people and records, not for the model; at most 200 characters. */
    reason: 'configured?',
    pattern: 'pattern_reference?',
  },
  /** Guidance that was produced, and whether it reached the agent. */
  guidance: {
    providerName: 'configured',
    injection: 'injection',
    decisionPoint: 'decision_point',
    classification: 'classification',
    /** Unix milliseconds. */
    atMs: 'amount',
    delivered: 'flag',
    /** How it was delivered, in the adapter's words, such as `tool-result`. */
    channel: 'name?',
    /** Why it was not delivered. */
    reason: 'name?',
  },
} as const;

/** The parts of a message, by `type`; one of another type is kept as `other`. */
export const BLOCKS = {
  /** Text. */
  text: { text: 'content' },
  /** Reasoning of the model. */
  reasoning: { text: 'content' },
  /** A call that the model asks for. */
  tool_call: { id: 'id', name: 'name', args: 'json' },
  /** An image: where it lies, or how many bytes it has and their digest. Only records of earlier versions have the bytes. */
  image: { media_type: 'name', bytes: 'count?', digest: 'own?', data_base64: 'picture?', url: 'content?' },
  /** What the source had and this version has no name for. */
  other: { value: 'json' },
} as const;

/** The messages of a transcript in their final form, by `role`. */
export const MESSAGES = {
  /** A message of the system. */
  system: { content: 'message_content' },
  /** A message of the user. */
  user: { content: 'message_content' },
  /** An answer of the model. */
  assistant: {
    content: 'message_content',
    stop_reason: 'name?',
    error_message: 'content?',
    model_id: 'name?',
    usage: 'token_usage?',
  },
  /** What a tool gave back. */
  tool_result: { tool_call_id: 'id', tool_name: 'name?', content: 'message_content', is_error: 'flag?' },
} as const;
