/**
 * Every kind of record, defined once. Types, decoder, redaction, JSON Schema, the samples of tests and the table in
 * docs/recording.md are made from these tables; the comments are the words of the schema and of that table.
 *
 * A kind has
 *
 * - a role: `input` is what the host and the agent did; `asked`, that the steering was asked, or what was looked at for it;
 *   `advised`, what became of its advice; `derived` follows from the inputs, is made anew by every replay, and names its
 *   input. A replay with other steering leaves out `advised`, and `asked` where it asks at points of its own
 * - a row: how it is shown to a reader of the run; an `event` or a `fault` has its sentence in `src/viewer/page/sentences.ts`
 * - fields: words of `field-types.ts`, with `?` where the field may be absent, `[]` for a list, `|null` where null is allowed
 *
 * The tables are the groups that a switch may pass over (`pass-over.ts`).
 */

/** How a run begins, ends and goes on. */
export const LIFE = {
  /** A run began. Always the first record of a run. */
  run_started: {
    role: 'input',
    row: 'event',
    fields: {
      identity: 'identity',
      /** What the agent was asked to do, where known. */
      task: 'content?',
      /** Where an imported run came from: `path#id`. */
      source: 'content?',
      /** The import format, for an imported run. */
      format: 'name?',
      /** The agent program that reported the run by its hooks, such as `codex`. */
      host: 'name?',
      /** What steering went by: a replay needs the same. Absent for an imported run. */
      steering: 'steering?',
    },
  },
  /** A run ended. `success`, `reward` and `labels` say how it went, where the source knows. */
  run_ended: {
    role: 'input',
    row: 'event',
    fields: {
      /** `ended`, `aborted`, `error`, `limit`, or the source's own word. */
      outcome: 'name',
      /** Why, where the source knows: `answered`, `rate_limit`, `login`, `overloaded`, `context`, `turn_limit` and so on. */
      reason: 'name?',
      new_messages: 'message[]',
      success: 'flag?',
      reward: 'number?',
      /** What the host says of the run. */
      labels: 'object?',
      /** What the session has used in all, where the host adds it up: of a run that went on, since its beginning. */
      usage: 'budget?',
    },
  },
  /** The host goes on with a run that had ended. Such as a session that is opened again. */
  run_resumed: {
    role: 'input',
    row: 'event',
    fields: {
      /** In the host's words: `resume`, `continue`, `clear`. */
      trigger: 'name',
    },
  },
} as const;

/** What model and user say. */
export const TALK = {
  /** The model began an answer. The calls until the next one belong to this turn and were issued together. */
  turn_started: { role: 'input', row: 'detail', fields: {} },
  /** The model's answer is complete and its tools have run. */
  turn_ended: { role: 'input', row: 'message', fields: { assistant: 'message', tool_results: 'message[]' } },
  /** A message joined the transcript. */
  message_appended: { role: 'input', row: 'message', fields: { message: 'message' } },
  /** The host shortened the conversation. Advice given before it may be forgotten. */
  compaction: {
    role: 'input',
    row: 'event',
    fields: {
      /** `auto`, `manual`, or the host's own word. */
      trigger: 'name',
    },
  },
} as const;

export const CALLS = {
  /** A tool call was issued. */
  tool_started: {
    role: 'input',
    row: 'call',
    fields: {
      /** Unique within the run: importers make it so. */
      tool_call_id: 'id',
      tool_name: 'name',
      args: 'json',
      /** What the tool's MCP server says of it, where the host passed that on. */
      annotations: 'tool_annotations?',
    },
  },
  /** A tool call came back. */
  tool_ended: {
    role: 'input',
    row: 'result',
    fields: {
      tool_call_id: 'id',
      tool_name: 'name',
      /** What the model got to see: a string, or the host's structured result. */
      result: 'result',
      is_error: 'flag',
      /** Set on an error that was read from the text, because the source has no flag. */
      error_inferred: 'true?',
      /** Set when the source holds the call but no result for it. */
      result_missing: 'true?',
      duration_ms: 'amount?',
    },
  },
} as const;

/** How a request to the model was put together. */
export const REQUESTS = {
  /** What one model request looked like, after transforms and gates. */
  provider_request_prepared: {
    role: 'input',
    row: 'detail',
    fields: {
      iteration: 'count',
      /** Null where it is not known. */
      model_id: 'name|null',
      system_prompt_chars: 'count',
      message_count: 'count',
      tool_count: 'count',
      /** Their names. */
      tools: 'name[]',
    },
  },
  /** A context transform ran. */
  context_transform_applied: {
    role: 'input',
    row: 'detail',
    fields: {
      iteration: 'count',
      plugin: 'name',
      /** Messages before it. */
      before_count: 'count',
      /** Messages after it. */
      after_count: 'count',
    },
  },
  /** A tool gate limited the tools of a turn; without `allow` it allows all. */
  tool_gate_applied: {
    role: 'input',
    row: 'detail',
    fields: { iteration: 'count', plugin: 'name', allow: 'name[]?' },
  },
  /** Tool gates had nothing in common, so one of them was chosen. */
  tool_gate_conflict_resolved: {
    role: 'input',
    row: 'detail',
    fields: { iteration: 'count', plugins: 'name[]', chosen_plugin: 'name?', allow: 'name[]', reason: 'name' },
  },
  /** A truncated turn was discarded and run again with a higher output limit. */
  output_tokens_escalation: {
    role: 'input',
    row: 'event',
    fields: {
      attempt: 'count',
      /** Tokens. */
      prev_cap: 'count',
      /** Tokens. */
      new_cap: 'count',
    },
  },
} as const;

/** What the host sets or tells around the agent's work. */
export const HOST = {
  /** More became known of the run after it began. A member that is absent stays as it was. */
  run_identified: {
    role: 'input',
    row: 'event',
    fields: { conversation_id: 'id?', agent_name: 'name?', model_id: 'name?' },
  },
  /** A run below this one ended. */
  child_ended: {
    role: 'input',
    row: 'event',
    fields: {
      child_run_id: 'own',
      /** What it used, with all runs below it, since it began or last ended. */
      usage: 'budget',
    },
  },
  /** The run has another deadline from here on. Without a time it has none. */
  deadline_set: {
    role: 'input',
    row: 'event',
    fields: {
      /** Unix milliseconds. */
      deadline_at_unix_ms: 'deadline?',
    },
  },
  /** Another prompt is in force from here on. */
  prompt_used: { role: 'input', row: 'event', fields: { prompt_name: 'configured' } },
  /** The agent wanted to stop, and what must hold by then was looked at. */
  completion_checked: {
    role: 'asked',
    row: 'event',
    fields: {
      met: 'flag',
      /** What does not hold, one line each; empty when `met`. */
      missing: 'content[]',
      /** 1 for the first time the agent wanted to stop. */
      attempt: 'count',
      /** Set when it did not hold and the agent was let go all the same, because it had been sent back often enough. */
      gave_up: 'true?',
    },
  },
  /** A policy of the configuration asks the host to stop the run. Once, until the run is resumed. */
  stop_requested: {
    role: 'derived',
    row: 'event',
    fields: {
      /** `stuck` or `budget`. */
      policy: 'configured',
      /** In one sentence, for people. */
      reason: 'configured',
    },
  },
  /** An event of the host's own that session slices fold. */
  session_event: { role: 'input', row: 'detail', fields: { event_type: 'configured', data: 'json' } },
} as const;

export const PATTERNS = {
  /** A pattern reached `warn`, or rose to `strong`. */
  pattern_flagged: { role: 'derived', row: 'pattern', fields: { pattern: 'pattern' } },
  /** The agent left a pattern that had been flagged. */
  pattern_cleared: { role: 'derived', row: 'pattern', fields: { pattern: 'pattern' } },
} as const;

export const PRODUCED = {
  /** Feedback was produced, or the assessment of an observer. */
  feedback_produced: {
    role: 'derived',
    row: 'advice',
    fields: {
      advice_id: 'own',
      provider_name: 'configured',
      feedback: 'spoken_advice',
      /** What is said to the agent. */
      text: 'configured',
    },
  },
  /** Guidance was produced. */
  guidance_produced: {
    role: 'derived',
    row: 'advice',
    fields: {
      advice_id: 'own',
      provider_name: 'configured',
      injection: 'injection',
      decision_point: 'decision_point',
      classification: 'classification',
    },
  },
} as const;

export const DELIVERED = {
  /** Whether feedback reached the agent. The host says so. */
  feedback_delivered: {
    role: 'advised',
    row: 'detail',
    fields: {
      /** As in `feedback_produced`. */
      advice_id: 'own',
      provider_name: 'configured',
      delivered: 'flag',
      /** How, in the adapter's words, such as `tool-result`. */
      channel: 'name?',
      /** Why not. */
      reason: 'name?',
    },
  },
  /** Whether guidance reached the agent. The host says so. */
  guidance_delivered: {
    role: 'advised',
    row: 'detail',
    fields: {
      /** As in `guidance_produced`. */
      advice_id: 'own',
      guidance: 'guidance',
    },
  },
} as const;

/** How the steering was asked, and what was answered. */
export const ASKED = {
  /**
   * A decision point was reached and the steering was asked. Everything that the answer depends on and that no earlier
   * record holds; the time is the record's.
   */
  evaluation: {
    role: 'asked',
    row: 'detail',
    fields: {
      point: 'decision_point',
      pending_calls: 'pending_call[]?',
      /** Text of the model's last answer, where the host gave it here. */
      last_response: 'content?',
      /** The prompt as last rendered, where the host gave it here. */
      rendered_prompt: 'content?',
      /** Files that triggers of the configuration watch for and that exist now. */
      files_created: 'configured[]?',
      usage: 'budget?',
      /** What other runs, above, beside and below this one, used of the same budget so far. */
      shared_usage: 'budget?',
    },
  },
  /** A model-backed classifier answered, failed, or ran out of time. */
  model_answered: {
    role: 'asked',
    row: 'detail',
    fields: {
      classifier_name: 'configured',
      /** An id of its bank; absent when none applies or it failed. */
      instruction_id: 'configured?',
      confidence: 'amount?',
      fault_code: 'name?',
      fault_message: 'content?',
    },
  },
  /** The agent answered a piece of advice. */
  advice_acknowledged: {
    role: 'advised',
    row: 'event',
    fields: { advice_id: 'name?', provider_name: 'name?', response: 'advice_response', note: 'content?' },
  },
} as const;

/** What went wrong on our side. */
export const FAULTS = {
  /** A provider, classifier, observer or detector threw or answered with nonsense. It stayed silent. */
  provider_failed: {
    role: 'derived',
    row: 'fault',
    fields: {
      provider_name: 'configured',
      /** What it was doing: `shouldRun`, `provide`, `classify`, `observe`… */
      phase: 'configured',
      code: 'configured',
      message: 'configured',
    },
  },
  /** A provider took longer than it may. Its answer counted; after the third time it is not asked again. */
  provider_overran: {
    role: 'advised',
    row: 'fault',
    fields: { provider_name: 'configured', duration_ms: 'amount', limit_ms: 'amount' },
  },
  /** Something went wrong on our side, or a provider turned on the run that asked it. */
  fault_noticed: {
    role: 'input',
    row: 'fault',
    fields: {
      /** What was being done. */
      where: 'configured',
      message: 'content',
    },
  },
} as const;

export const LOST = {
  /** Records that were lost. It fills `seq … through_seq`; the next record is `through_seq + 1`. */
  gap: {
    role: 'input',
    row: 'event',
    fields: {
      /** At least the record's own `seq`. */
      through_seq: 'count',
      reason: 'configured',
    },
  },
} as const;

/** What every derived record names besides its own fields. */
export const DERIVED = {
  /** The input record that led to this one. */
  cause_seq: 'count',
  /** Its place among what that input led to. */
  ordinal: 'count',
} as const;

/** The tables as one. */
export const KINDS: typeof LIFE &
  typeof TALK &
  typeof CALLS &
  typeof REQUESTS &
  typeof HOST &
  typeof PATTERNS &
  typeof PRODUCED &
  typeof DELIVERED &
  typeof ASKED &
  typeof FAULTS &
  typeof LOST = {
  ...LIFE,
  ...TALK,
  ...CALLS,
  ...REQUESTS,
  ...HOST,
  ...PATTERNS,
  ...PRODUCED,
  ...DELIVERED,
  ...ASKED,
  ...FAULTS,
  ...LOST,
};
