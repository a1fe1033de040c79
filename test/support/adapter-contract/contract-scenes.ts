import type { Scene } from './adapter-player.ts';
import type { AgentBelow } from './adapter-harness.ts';
import type { ModelCall, ModelFunction } from '../../../src/testing/model-script.ts';
import type { ScriptedTools } from './scripted-toolbox.ts';

/** JSON schema of the parameters of every tool in a scene: an optional number and an optional string. */
export const SCENE_TOOL_SCHEMA = {
  type: 'object',
  properties: { at: { type: 'number' }, note: { type: 'string' } },
} as const;

/** JSON schema of a structured answer. */
export const ANSWER_SCHEMA: {
  type: 'object';
  properties: { found: { type: 'string' } };
  required: string[];
  additionalProperties: false;
} = { type: 'object', properties: { found: { type: 'string' } }, required: ['found'], additionalProperties: false };

const SCENE_TOOLS: ScriptedTools = {
  look: (args) => `It is quiet at ${JSON.stringify(args)}.`,
  mute: () => '',
  list: () => '{"files":["a.txt","b.txt"],"more":false}',
  boom: () => {
    throw new Error('the kettle exploded');
  },
};

/** The text of the last model response. */
export const FINAL_TEXT = 'All is well.';

const PROMPT = 'Look around.';

function sceneOf(...turns: readonly (readonly ModelCall[])[]): Scene {
  return {
    prompt: PROMPT,
    script: { turns: [...turns.map((calls) => ({ calls })), { text: FINAL_TEXT }] },
    tools: SCENE_TOOLS,
  };
}

function lookCall(place: number): ModelCall {
  return { name: 'look', args: { at: place } };
}

/** Two calls, one after the other. */
export const SEQUENTIAL: Scene = sceneOf([lookCall(1)], [lookCall(2)]);

/** Two parallel calls, then one more call. */
export const PARALLEL: Scene = sceneOf([lookCall(1), lookCall(2)], [lookCall(3)]);

/** A failing tool call, then a successful call. */
export const FAILING: Scene = sceneOf([{ name: 'boom', args: {} }], [lookCall(1)]);

/** A failing call and a successful call in parallel. */
export const FAILING_BESIDE: Scene = sceneOf([lookCall(1), { name: 'boom', args: {} }]);

/** Results of several types: a sentence, an empty result, JSON. */
export const RESULTS: Scene = sceneOf([lookCall(1)], [{ name: 'mute', args: {} }], [{ name: 'list', args: {} }]);

/** A call of a tool that does not exist, then a valid call. */
export const UNKNOWN_TOOL: Scene = sceneOf([{ name: 'nowhere', args: {} }], [lookCall(1)]);

/** A call with invalid arguments, then a valid call. */
export const WRONG_ARGUMENTS: Scene = sceneOf([{ name: 'look', args: { at: 'the moon' } }], [lookCall(1)]);

/** Two calls with the same id. */
export const REPEATED_ID: Scene = sceneOf([{ ...lookCall(1), id: 'again' }], [{ ...lookCall(2), id: 'again' }]);

/** A response from a later version of the API, with unknown fields. */
export const FUTURE: Scene = {
  ...SEQUENTIAL,
  script: {
    turns: [
      { calls: [lookCall(1)] },
      { calls: [lookCall(2)], fromTheFuture: true },
      { text: FINAL_TEXT, fromTheFuture: true },
    ],
  },
};

/** The model API returns an error in the middle of the run. */
export const SERVER_ERROR: Scene = {
  ...SEQUENTIAL,
  script: (_request, index) => (index === 0 ? { calls: [lookCall(1)] } : { error: { status: 500 } }),
};

/** The connection breaks in the middle of a response. The next response is complete. */
export const TRUNCATED: Scene = {
  ...SEQUENTIAL,
  script: { turns: [{ calls: [lookCall(1)] }, { error: { isTruncated: true } }, { text: FINAL_TEXT }] },
};

/** The last response is truncated because it reached the token limit. */
export const CUT_SHORT: Scene = {
  ...SEQUENTIAL,
  script: { turns: [{ calls: [lookCall(1)] }, { text: 'All is', finish: 'length' }, { text: FINAL_TEXT }] },
};

export const BELOW: AgentBelow = { name: 'digger', instructions: 'You dig until you find something.' };

/** The agent calls the subagent, which makes one call. */
const delegatingModel: ModelFunction = (request) => {
  const text = JSON.stringify(request);
  const isBelow = text.includes(BELOW.instructions);
  if (text.includes(isBelow ? 'It is quiet' : FINAL_TEXT)) return { text: FINAL_TEXT };
  return { calls: [isBelow ? lookCall(1) : { name: BELOW.name, args: { input: 'Dig.' } }] };
};

/** An agent that delegates to a subagent. */
export const TREE: Scene = { ...SEQUENTIAL, script: delegatingModel, below: BELOW };

/** The same scene with a handoff: the subagent does not return control. */
export const HANDED_OVER: Scene = { ...TREE, below: { ...BELOW, handsOver: true } };

/** The user aborts during the model's second response. */
export const ABORTED: Scene = {
  ...SEQUENTIAL,
  script: { turns: [{ calls: [lookCall(1)] }, { text: FINAL_TEXT, answerAfterMs: 30_000 }] },
  abortAtRequest: 1,
};

/** An answer of the form `ANSWER_SCHEMA`. */
export const STRUCTURED: Scene = {
  ...SEQUENTIAL,
  script: { turns: [{ calls: [lookCall(1)] }, { text: '{"found":"nothing"}' }] },
  structured: true,
};

/** The reason with which the user of a scene aborts. */
export function abortReasonOf({ abortReason }: Pick<Scene, 'abortReason'>): Error | undefined {
  if (abortReason === 'timeout') return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  return abortReason === 'stop' ? new DOMException('coxswain asks to stop: stuck', 'AbortError') : undefined;
}
