/**
 * The single definition of every kind of record. Types, decoder, redaction, JSON Schema and samples of tests are generated from
 * these tables and those of `advice-kinds.ts`. The comments are the descriptions in the schema; a test compares them with the
 * table in docs/recording.md.
 *
 * A kind has
 *
 * - a role: `input`, an event of the host or the agent; `asked`, a request for steering; `advised`, the delivery of advice;
 *   `derived`, computed from an input, which it names, and again by every replay. A replay with other steering leaves out
 *   `advised`, and `asked` if it has its own decision points
 * - a row: its presentation; `src/viewer/page/sentences.ts` may give an `event` or a `fault` its own sentence
 * - `emitted`, if the host reports it with `run.emit`: the event has the kind as its type and the fields in camel case. Kinds
 *   whose event has another form are cases of `src/core/recorder/to-payload.ts`
 * - fields: words of `shapes.ts`, with `?` for optional, `[]` for a list, `|null` for nullable
 */
import { ASKED, DELIVERED, PATTERNS, PRODUCED } from './advice-kinds.ts';

/** Start, end and resumption of a run. */
export const LIFE = {
  /** A run began. The first record of every run whose identity is known. */
  run_started: {
    role: 'input',
    row: 'event',
    fields: {
      identity: 'identity',
      /** The task given to the agent, if known. */
      task: 'content?',
      /** Origin of an imported run: `path#id`. */
      source: 'content?',
      /** The import format, for an imported run. */
      format: 'name?',
      /** The agent program that reported the run by its hooks, such as `codex`. */
      host: 'name?',
      /** The steering, for replays. Absent for an imported run. */
      steering: 'steering?',
    },
  },
  /** A run ended. `success`, `reward` and `labels` describe the result, if the source has them. */
  run_ended: {
    role: 'input',
    row: 'event',
    fields: {
      /** `ended`, `aborted`, `error`, `limit`, or a word of the source. */
      outcome: 'name',
      /** If the source has one: `answered`, `rate_limit`, `login`, `overloaded`, `context`, `turn_limit`, `timeout` and so on. */
      reason: 'name?',
      new_messages: 'message[]',
      success: 'flag?',
      reward: 'number?',
      /** Labels of the host. */
      labels: 'object?',
      /** Total usage of the session as reported by the host, including usage before a resumption. */
      usage: 'budget?',
    },
  },
  /** The host resumed a run that had ended. For example a reopened session. */
  run_resumed: {
    role: 'input',
    row: 'event',
    emitted: true,
    fields: {
      /** A word of the host: `resume`, `continue`, `clear`. */
      trigger: 'name',
    },
  },
} as const;

/** Turns and messages. */
export const TALK = {
  /** The model began a response. Its calls were issued together; a later call that no message announced begins a turn too. */
  turn_started: { role: 'input', row: 'detail', fields: {} },
  /** The model's response is complete and its tools have run. */
  turn_ended: { role: 'input', row: 'message', fields: { assistant: 'message', tool_results: 'message[]' } },
  /** A message joined the transcript. */
  message_appended: { role: 'input', row: 'message', fields: { message: 'message' } },
  /** The host shortened the conversation. Advice given before it may be forgotten. */
  compaction: {
    role: 'input',
    row: 'event',
    emitted: true,
    fields: {
      /** `auto`, `manual`, or a word of the host. */
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
      /** Annotations of the tool's MCP server, if the host reports them. */
      annotations: 'tool_annotations?',
    },
  },
  /** A tool call finished. */
  tool_ended: {
    role: 'input',
    row: 'result',
    fields: {
      tool_call_id: 'id',
      tool_name: 'name',
      /** The result as seen by the model: a string, or the host's structured result. */
      result: 'result',
      /** Also true for a refused and a cancelled call. */
      is_error: 'flag',
      /** Set for a refused and a cancelled call. Otherwise `is_error` says whether the call failed. */
      outcome: 'call_outcome?',
      /** Set for an error that was inferred from the text, because the source has no flag. */
      error_inferred: 'true?',
      /** Set if the source has no result for the call. */
      result_missing: 'true?',
      duration_ms: 'amount?',
    },
  },
} as const;

/** How a request to the model was built. */
export const REQUESTS = {
  /** A request to the model, after transforms and gates. */
  provider_request_prepared: {
    role: 'input',
    row: 'detail',
    fields: {
      iteration: 'count',
      /** Null if unknown. */
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
    emitted: true,
    fields: { iteration: 'count', plugin: 'name', allow: 'name[]?' },
  },
  /** Tool gates allowed no common tool, so one of them was chosen. */
  tool_gate_conflict_resolved: {
    role: 'input',
    row: 'detail',
    emitted: true,
    fields: { iteration: 'count', plugins: 'name[]', chosen_plugin: 'name?', allow: 'name[]', reason: 'name' },
  },
  /** A truncated turn was discarded and run again with a higher output limit. */
  output_tokens_escalation: {
    role: 'input',
    row: 'event',
    emitted: true,
    fields: {
      attempt: 'count',
      /** Tokens. */
      prev_cap: 'count',
      /** Tokens. */
      new_cap: 'count',
    },
  },
} as const;

/** Events of the host around the agent's work. */
export const HOST = {
  /** The identity of the run was completed after its start. An absent member is unchanged. */
  run_identified: {
    role: 'input',
    row: 'event',
    fields: { conversation_id: 'id?', agent_name: 'name?', model_id: 'name?' },
  },
  /** A child run ended. */
  child_ended: {
    role: 'input',
    row: 'event',
    fields: {
      child_run_id: 'own',
      /** Its usage, including descendants, since it started or last ended. */
      usage: 'budget',
    },
  },
  /** The deadline changed. An absent time removes it. */
  deadline_set: {
    role: 'input',
    row: 'event',
    fields: {
      /** Unix milliseconds. */
      deadline_at_unix_ms: 'deadline?',
    },
  },
  /** Another prompt is in force. */
  prompt_used: { role: 'input', row: 'event', fields: { prompt_name: 'configured' } },
  /** The agent wanted to stop, and the conditions were checked. */
  completion_checked: {
    role: 'asked',
    row: 'event',
    fields: {
      met: 'flag',
      /** Unmet conditions, one line each; empty if `met`. */
      missing: 'content[]',
      /** From 1. */
      attempt: 'count',
      /** Set if the conditions were unmet and the agent could stop anyway: after the last attempt, or after a refused call. */
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
      /** One sentence for people. */
      reason: 'configured',
    },
  },
  /** An event of the host for its session slices. */
  session_event: { role: 'input', row: 'detail', fields: { event_type: 'configured', data: 'json' } },
} as const;

/** Internal faults. */
export const FAULTS = {
  /** A provider, classifier, observer or detector threw or returned an invalid result, which was not used. */
  provider_failed: {
    role: 'derived',
    row: 'fault',
    fields: {
      provider_name: 'configured',
      /** `shouldRun`, `provide`, `classify`, `observe`… */
      phase: 'configured',
      code: 'configured',
      message: 'configured',
    },
  },
  /** A provider exceeded its time limit. Its result was used; after the third time it is disabled. */
  provider_overran: {
    role: 'advised',
    row: 'fault',
    fields: { provider_name: 'configured', duration_ms: 'amount', limit_ms: 'amount' },
  },
  /** An internal fault, or a provider that called the run which called it. */
  fault_noticed: {
    role: 'input',
    row: 'fault',
    fields: {
      /** The operation. */
      where: 'configured',
      message: 'content',
    },
  },
} as const;

export const LOST = {
  /** Records were lost. The gap is `seq … through_seq`; the next record is `through_seq + 1`. */
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

/** Additional fields of every derived record. */
export const DERIVED = {
  /** `seq` of the input record. */
  cause_seq: 'count',
  /** Index among the records derived from that input. */
  ordinal: 'count',
} as const;

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
