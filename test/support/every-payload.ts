import type { StoredMessage, StoredUsage } from '../../src/records/stored-message.ts';
import type { StoredBudget, TrajectoryPayload } from '../../src/records/trajectory-record.ts';

type PayloadOfKind = {
  readonly [Kind in TrajectoryPayload['kind']]: Required<Extract<TrajectoryPayload, { readonly kind: Kind }>>;
};

/**
 * A payload of every kind with every field set, and `text` in each field that may hold any text. A kind or a field that is
 * added does not compile until it is set here.
 */
export function everyPayload(text: string): readonly TrajectoryPayload[] {
  const everyUsage: Required<StoredUsage> = {
    input_tokens: 1,
    output_tokens: 1,
    cache_read_tokens: 1,
    cache_write_tokens: 1,
    cost_usd: 0.5,
  };
  const everyBudget: Required<StoredBudget> = { calls: 1, tokens: 1, cost_usd: 0.5 };
  const messages: readonly StoredMessage[] = [
    { role: 'system', content: text },
    {
      role: 'user',
      content: [
        { type: 'text', text },
        { type: 'image', media_type: text, data_base64: text, url: text },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text },
        { type: 'tool_call', id: text, name: text, args: { nested: [{ deep: text }] } },
        { type: 'other', value: { [`k`]: text } },
      ],
      stop_reason: text,
      error_message: text,
      model_id: text,
      usage: everyUsage,
    },
    { role: 'tool_result', tool_call_id: text, tool_name: text, content: text, is_error: true },
  ];
  const [message = { role: 'user', content: text }] = messages;
  const pattern = {
    kind: 'identical_call',
    identity: 'identical_call:0',
    stuck: true,
    level: 'warn',
    confidence: 1,
    tool: 'bash',
    subject: 'make',
    answer: 'content',
    evidence: [1],
    firstSeen: 0,
    flaggedAt: 1,
    occurrences: 3,
    clearedAt: 2,
  } as const;
  const derived = { cause_seq: 1, ordinal: 0 };
  const reference = { identity: 'identical_call:0', level: 'warn', occurrences: 3 } as const;
  const injection = { key: 'a.key', content: text, priority: 1, category: text };
  const classification = { relevant: true, confidence: 1, reason: text, pattern: reference };
  const json = { list: [text, { member: text }], text };
  const payloads: PayloadOfKind = {
    run_started: {
      kind: 'run_started',
      identity: {
        run_id: 'run',
        parent_run_id: 'parent',
        depth: 0,
        conversation_id: text,
        agent_name: text,
        model_id: text,
      },
      task: text,
      source: text,
      format: text,
      steering: {
        prompt_name: text,
        deadline_at_unix_ms: 1,
        budget: everyBudget,
        configuration_hash: 'h',
        mode: 'steer',
        holdout: { share: 0.1, withheld: false },
      },
    },
    run_ended: {
      kind: 'run_ended',
      outcome: text,
      new_messages: messages,
      success: true,
      reward: 1,
      labels: json,
    },
    turn_started: { kind: 'turn_started' },
    turn_ended: { kind: 'turn_ended', assistant: messages[2] ?? message, tool_results: messages },
    message_appended: { kind: 'message_appended', message: messages[1] ?? message },
    tool_started: { kind: 'tool_started', tool_call_id: text, tool_name: text, args: json },
    tool_ended: {
      kind: 'tool_ended',
      tool_call_id: text,
      tool_name: text,
      result: [{ type: 'text', text }, text, json],
      is_error: true,
      error_inferred: true,
      result_missing: true,
      duration_ms: 1,
    },
    provider_request_prepared: {
      kind: 'provider_request_prepared',
      iteration: 1,
      model_id: text,
      system_prompt_chars: 1,
      message_count: 1,
      tool_count: 1,
      tools: [text],
    },
    context_transform_applied: {
      kind: 'context_transform_applied',
      iteration: 1,
      plugin: text,
      before_count: 1,
      after_count: 1,
    },
    tool_gate_applied: { kind: 'tool_gate_applied', iteration: 1, plugin: text, allow: [text] },
    tool_gate_conflict_resolved: {
      kind: 'tool_gate_conflict_resolved',
      iteration: 1,
      plugins: [text],
      chosen_plugin: text,
      allow: [text],
      reason: text,
    },
    output_tokens_escalation: { kind: 'output_tokens_escalation', attempt: 1, prev_cap: 1, new_cap: 2 },
    run_resumed: { kind: 'run_resumed', trigger: text },
    run_identified: { kind: 'run_identified', conversation_id: text, agent_name: text, model_id: text },
    child_ended: { kind: 'child_ended', child_run_id: text, usage: everyBudget },
    deadline_set: { kind: 'deadline_set', deadline_at_unix_ms: 1 },
    completion_checked: { kind: 'completion_checked', met: false, missing: [text], attempt: 1, gave_up: true },
    compaction: { kind: 'compaction', trigger: text },
    gap: { kind: 'gap', through_seq: 1, reason: text },
    evaluation: {
      kind: 'evaluation',
      point: 'post_tool_result',
      pending_calls: [{ tool_call_id: text, tool_name: text, args: json }],
      last_response: text,
      rendered_prompt: text,
      files_created: [text],
      usage: everyBudget,
      shared_usage: everyBudget,
    },
    prompt_used: { kind: 'prompt_used', prompt_name: text },
    session_event: { kind: 'session_event', event_type: text, data: json },
    pattern_flagged: { kind: 'pattern_flagged', ...derived, pattern },
    pattern_cleared: { kind: 'pattern_cleared', ...derived, pattern },
    feedback_produced: {
      kind: 'feedback_produced',
      ...derived,
      advice_id: '1.0',
      provider_name: text,
      feedback: {
        summary: text,
        observations: [{ category: text, description: text, evidence: text }],
        suggestions: [text],
        severity: 'info',
        atMs: 1,
        callIndex: 1,
        promptName: text,
        pattern: reference,
      },
      text,
    },
    guidance_produced: {
      kind: 'guidance_produced',
      ...derived,
      advice_id: '1.0',
      provider_name: text,
      injection,
      decision_point: 'pre_render',
      classification,
    },
    feedback_delivered: {
      kind: 'feedback_delivered',
      advice_id: '1.0',
      provider_name: text,
      delivered: true,
      channel: text,
      reason: text,
    },
    guidance_delivered: {
      kind: 'guidance_delivered',
      advice_id: '1.0',
      guidance: {
        providerName: text,
        injection,
        decisionPoint: 'pre_render',
        classification,
        atMs: 1,
        delivered: false,
        channel: text,
        reason: text,
      },
    },
    provider_failed: {
      kind: 'provider_failed',
      ...derived,
      provider_name: text,
      phase: text,
      code: text,
      message: text,
    },
    provider_overran: { kind: 'provider_overran', provider_name: text, duration_ms: 1, limit_ms: 1 },
    fault_noticed: { kind: 'fault_noticed', where: text, message: text },
    model_answered: {
      kind: 'model_answered',
      classifier_name: text,
      instruction_id: text,
      confidence: 1,
      fault_code: text,
      fault_message: text,
    },
    advice_acknowledged: {
      kind: 'advice_acknowledged',
      advice_id: text,
      provider_name: text,
      response: 'noted',
      note: text,
    },
    unrecognised: {
      kind: 'unrecognised',
      original: { kind: 'new_kind', ...json },
      text: JSON.stringify({ kind: 'new_kind', ...json }).replace('{', '{ '),
    },
  };
  return Object.values(payloads);
}
