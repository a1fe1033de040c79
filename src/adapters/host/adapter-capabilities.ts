import { present } from '../../core/base/json.ts';
import type { DecisionPoint } from '../../core/records/spoken-advice.ts';

/** How an SDK delivers advice at one decision point. */
export interface PointCapability {
  /**
   * - `ephemeral`: the text is in one model request only, not in later requests or the stored history
   * - `persistent`: the text becomes part of the conversation history
   * - `unsupported`: there is no channel; advice is recorded as undelivered
   */
  readonly persistence: 'ephemeral' | 'persistent' | 'unsupported';
  /**
   * - `before`: the model reads the advice before the decision
   * - `after`: the model reads the advice with the next request, after the decision
   * - `forces-turn`: delivery makes the agent take another turn; off by default, at most once per run
   */
  readonly timing: 'before' | 'after' | 'forces-turn';
  /** How the advice reaches the model, in the SDK's terms. `delivered(channel)` records this value. Absent if unsupported. */
  readonly channel?: string;
  /** One sentence of explanation for users. */
  readonly note?: string;
}

/** The capabilities of an adapter by decision point. Plain data; `coxswain doctor` prints it. */
export type AdapterCapabilities = Readonly<Record<DecisionPoint, PointCapability>>;

export const FINAL_ANSWER: PointCapability = {
  persistence: 'unsupported',
  timing: 'before',
  note: 'An answer without calls is final: there is no request after it.',
};

/** Notes for users that differ between SDKs. */
export interface RequestNotes {
  readonly pre_render: string;
  readonly pre_tool_selection: string;
  readonly post_tool_result: string;
  readonly pre_response?: string;
}

export function requestCapabilities(notes: RequestNotes): AdapterCapabilities {
  const inRequest = { persistence: 'ephemeral', timing: 'before', channel: 'request' } as const;
  const inResult = { persistence: 'persistent', channel: 'tool-result' } as const;
  return {
    pre_render: { ...inRequest, note: notes.pre_render },
    pre_tool_selection: { ...inRequest, note: notes.pre_tool_selection },
    pre_tool_execution: {
      ...inResult,
      timing: 'after',
      note: 'The call is made already; the text goes with its result.',
    },
    post_tool_result: { ...inResult, timing: 'before', note: notes.post_tool_result },
    pre_response: { ...FINAL_ANSWER, ...present({ note: notes.pre_response }) },
  };
}
