/** The kinds of record about advice: patterns, advice, its delivery and its requests. `kinds.ts` explains the tables. */

export const PATTERNS = {
  /** A pattern reached `warn`, or rose to `strong`. */
  pattern_flagged: { role: 'derived', row: 'pattern', fields: { pattern: 'pattern' } },
  /** The agent left a flagged pattern. */
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
      /** Text for the agent. */
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
  /** A limit held advice back. Once for each provider, subject and reason, until the provider has spoken about the subject. */
  advice_held: {
    role: 'derived',
    row: 'event',
    fields: {
      provider_name: 'configured',
      point: 'decision_point',
      reason: 'held_reason',
      pattern: 'pattern_reference?',
    },
  },
} as const;

export const DELIVERED = {
  /** The host reported the delivery of feedback. */
  feedback_delivered: {
    role: 'advised',
    row: 'detail',
    fields: {
      /** As in `feedback_produced`. */
      advice_id: 'own',
      provider_name: 'configured',
      delivered: 'flag',
      /** A word of the adapter, such as `tool-result`. */
      channel: 'name?',
      /** Why it was not delivered. */
      reason: 'name?',
    },
  },
  /** The host reported the delivery of guidance. */
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

/** Requests for steering, and responses. */
export const ASKED = {
  /** Advice was requested. Has all input of the evaluation that no earlier record has; the time is the record's. */
  evaluation: {
    role: 'asked',
    row: 'detail',
    fields: {
      point: 'decision_point',
      pending_calls: 'pending_call[]?',
      /** Text of the model's last response, if the host gave it here. */
      last_response: 'content?',
      /** The prompt as last rendered, if the host gave it here. */
      rendered_prompt: 'content?',
      /** Files of triggers that exist now. */
      files_created: 'configured[]?',
      usage: 'budget?',
      /** Usage of the same budget by related runs. */
      shared_usage: 'budget?',
    },
  },
  /** A model-backed classifier responded, failed or timed out. */
  model_answered: {
    role: 'asked',
    row: 'detail',
    fields: {
      classifier_name: 'configured',
      /** An id of its bank; absent if none applies or it failed. */
      instruction_id: 'configured?',
      confidence: 'amount?',
      fault_code: 'name?',
      fault_message: 'content?',
    },
  },
  /** The agent responded to a piece of advice. */
  advice_acknowledged: {
    role: 'advised',
    row: 'event',
    fields: { advice_id: 'name?', provider_name: 'name?', response: 'advice_response', note: 'content?' },
  },
} as const;
