/** Harbor's models of ATIF 1.7 as a JSON Schema: unknown members are only in `extra`. */
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
