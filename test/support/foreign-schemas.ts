/**
 * JSON Schemas of two foreign formats: Harbor's models of ATIF 1.7 (unknown members only in `extra`), and Inspect's models of a log
 * (members without a default are required).
 */
const TEXT = { type: 'string' };
const EXTRA = { type: 'object' };

function closed(required: readonly string[], properties: object): object {
  return { type: 'object', required, properties, additionalProperties: false };
}

const ATIF_CONTENT = {
  anyOf: [
    TEXT,
    {
      type: 'array',
      items: {
        anyOf: [
          closed(['type', 'text'], { type: { const: 'text' }, text: TEXT }),
          closed(['type', 'source'], { type: { const: 'image' }, source: { type: 'object' } }),
        ],
      },
    },
  ],
};

const ATIF_STEP = {
  ...closed(['step_id', 'source', 'message'], {
    step_id: { type: 'integer', minimum: 1 },
    timestamp: { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT` },
    source: { enum: ['system', 'user', 'agent'] },
    model_name: TEXT,
    message: ATIF_CONTENT,
    reasoning_content: TEXT,
    tool_calls: {
      type: 'array',
      items: closed(['tool_call_id', 'function_name', 'arguments'], {
        tool_call_id: TEXT,
        function_name: TEXT,
        arguments: { type: 'object' },
        extra: EXTRA,
      }),
    },
    observation: closed(['results'], {
      results: {
        type: 'array',
        items: closed([], { source_call_id: TEXT, content: ATIF_CONTENT, extra: EXTRA }),
      },
    }),
    metrics: closed([], {
      prompt_tokens: { type: 'integer' },
      completion_tokens: { type: 'integer' },
      cached_tokens: { type: 'integer' },
      cost_usd: { type: 'number' },
    }),
    extra: EXTRA,
  }),
  // Members that only a step of the agent may have.
  if: { properties: { source: { enum: ['system', 'user'] } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: {
    not: { anyOf: ['model_name', 'reasoning_content', 'tool_calls', 'metrics'].map((name) => ({ required: [name] })) },
  },
};

export const ATIF_SCHEMA: object = {
  $id: 'atif',
  ...closed(['schema_version', 'agent', 'steps'], {
    schema_version: { const: 'ATIF-v1.7' },
    session_id: TEXT,
    trajectory_id: TEXT,
    agent: closed(['name', 'version'], { name: TEXT, version: TEXT, model_name: TEXT }),
    steps: { type: 'array', minItems: 1, items: ATIF_STEP },
    extra: EXTRA,
    subagent_trajectories: {
      type: 'array',
      items: { allOf: [{ $ref: 'atif' }, { type: 'object', required: ['trajectory_id'] }] },
    },
  }),
};

const INSPECT_CONTENT = {
  anyOf: [
    TEXT,
    {
      type: 'array',
      items: {
        anyOf: [
          closed(['type', 'text'], { type: { const: 'text' }, text: TEXT }),
          closed(['type', 'reasoning'], { type: { const: 'reasoning' }, reasoning: TEXT }),
          closed(['type', 'image'], { type: { const: 'image' }, image: TEXT }),
        ],
      },
    },
  ],
};

const INSPECT_CALL = {
  id: TEXT,
  function: TEXT,
  arguments: { type: 'object' },
  type: { const: 'function' },
};

const INSPECT_MESSAGE = {
  anyOf: [
    closed(['role', 'content'], { role: { enum: ['system', 'user'] }, content: INSPECT_CONTENT }),
    closed(['role', 'content'], {
      role: { const: 'assistant' },
      content: INSPECT_CONTENT,
      metadata: EXTRA,
      tool_calls: { type: 'array', items: closed(['id', 'function', 'arguments'], INSPECT_CALL) },
      model: TEXT,
    }),
    closed(['role', 'content'], {
      role: { const: 'tool' },
      content: INSPECT_CONTENT,
      metadata: EXTRA,
      tool_call_id: TEXT,
      function: TEXT,
      error: closed(['type', 'message'], {
        type: {
          enum: [
            'parsing',
            'timeout',
            'unicode_decode',
            'permission',
            'file_not_found',
            'is_a_directory',
            'limit',
            'approval',
            'unknown',
            'output_limit',
          ],
        },
        message: TEXT,
      }),
    }),
  ],
};

export const INSPECT_SCHEMA: object = closed(['version', 'status', 'eval', 'samples'], {
  version: { const: 2 },
  status: { enum: ['started', 'success', 'cancelled', 'error'] },
  eval: closed(['created', 'task', 'dataset', 'model', 'config'], {
    eval_id: TEXT,
    created: { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT` },
    task: TEXT,
    dataset: closed([], {}),
    model: TEXT,
    config: closed([], {}),
  }),
  samples: {
    type: 'array',
    items: closed(['id', 'epoch', 'input', 'target'], {
      id: TEXT,
      epoch: { type: 'integer' },
      input: TEXT,
      target: TEXT,
      messages: { type: 'array', items: INSPECT_MESSAGE },
      events: {
        type: 'array',
        items: closed(['event', 'timestamp', 'working_start', 'id', 'function', 'arguments'], {
          ...INSPECT_CALL,
          event: { const: 'tool' },
          timestamp: TEXT,
          completed: TEXT,
          working_start: { type: 'number' },
        }),
      },
      started_at: TEXT,
      completed_at: TEXT,
      scores: {
        type: 'object',
        additionalProperties: closed(['value'], { value: { type: 'number' }, metadata: { type: 'object' } }),
      },
      error: closed(['message', 'traceback', 'traceback_ansi'], {
        message: TEXT,
        traceback: TEXT,
        traceback_ansi: TEXT,
      }),
      limit: closed(['type', 'limit'], { type: { const: 'custom' }, limit: { type: 'number' } }),
    }),
  },
});
