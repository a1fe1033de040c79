import type { AdapterCapabilities } from '../../../src/adapters/host/adapter-capabilities.ts';
import type { AdapterOptions } from '../../../src/adapters/host/adapter-options.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { ModelFunction, ModelScript } from '../../../src/testing/model-script.ts';
import type { ScriptedTools, ToolRun } from './scripted-toolbox.ts';

/** Drives an adapter in tests: the real SDK with a scripted model and scripted tools. */
export interface AdapterHarness {
  /** Name of the adapter in test titles, such as `claude-agent-sdk`. */
  readonly name: string;
  readonly capabilities: AdapterCapabilities;
  /** Plays a scene to its end. Does not reject on an error of the SDK: the error is in `ended`. */
  run(scene: AdapterScene): Promise<AdapterOutcome>;
  /** Reasons for skipped tests of the contract, by exact test name. */
  readonly skips?: Readonly<Record<string, string>>;
  /** True if the adapter sees calls and responses, but not the model and the tools of a request. Default: false. */
  readonly seesNoRequests?: boolean;
  /** True if the SDK does not report all tokens of a subagent. Default: false. */
  readonly hidesTokensBelow?: boolean;
  /** True if the SDK asks for a structured answer with a call of its own tool. Default: false. */
  readonly structuresByTool?: boolean;
  /** Returns the SDK's name of a tool, such as `mcp__scene__look`. Default: the unchanged name. */
  readonly toolNameOf?: (name: string) => string;
  /**
   * Position of feedback in the next request. `tool-result` (default): in the tool result of its call. `nearby`: in that message
   * or in a later message that is not a tool result, as the SDK decides.
   */
  readonly feedbackPlace?: 'tool-result' | 'nearby';
}

/** The input of one agent run. The harness follows the documentation of the adapter, including how to end the run. */
export interface AdapterScene {
  readonly prompt: string;
  /** Up to 60 responses. The turn limit of the SDK must allow all of them. */
  readonly script: ModelScript | ModelFunction;
  readonly tools: ScriptedTools;
  /** A subagent with the same tools. Default: none. */
  readonly below?: AgentBelow;
  /** The run to steer. If absent, the same program runs without coxswain. */
  readonly run?: Run;
  /** Additional options of the adapter. */
  readonly adapter?: AdapterOptions;
  /** Enables forced turns if the adapter supports them. */
  readonly forceTurn?: boolean;
  /** Uses the streaming function of the SDK and consumes the stream. */
  readonly streaming?: boolean;
  /** Asks the model for an answer of the form `ANSWER_SCHEMA`, in the way of the SDK. */
  readonly structured?: boolean;
  /** Attaches a session or store of the SDK, if the SDK has one. */
  readonly session?: boolean;
  /** Adds a hook, listener or callback that always throws. */
  readonly userHookThrows?: boolean;
  /** Aborts the run when the main request with this index (from 0) has arrived, before the response. */
  readonly abortAtRequest?: number;
  /** Reason of the abort; default: none, as of a user. `timeout`: as of `AbortSignal.timeout`. `stop`: that of `run.stopSignal`. */
  readonly abortReason?: 'timeout' | 'stop';
  /** Delay of each model response in milliseconds; default: 0. */
  readonly answerAfterMs?: number;
  /** Adds hooks or wrappers without effect, as the baseline for overhead measurements. */
  readonly idleHooks?: boolean;
}

/** A subagent. */
export interface AgentBelow {
  /** The name of the subagent and of its tool in the script. The harness translates the name for the SDK. */
  readonly name: string;
  /** Instructions that only the requests of the subagent contain, so that the script can distinguish the agents. */
  readonly instructions: string;
  /** True if the task is handed over and control does not return. Default: the response of the subagent is a tool result. */
  readonly handsOver?: boolean;
}

/** The outcome of a scene. Plain JSON. */
export interface AdapterOutcome {
  /** The main requests to the model, in order. */
  readonly requests: readonly NeutralRequest[];
  /** `normally` if the SDK returned a response; otherwise the error of the SDK. */
  readonly ended: 'normally' | { readonly error: string };
  /** Text of the last response returned by the SDK; may be empty. */
  readonly finalText: string;
  /** Tool runs in the order of their start. */
  readonly toolRuns: readonly ToolRun[];
  /** The history or session of the SDK after the run, as text. Absent if it is not readable. */
  readonly storedHistory?: string;
}

/** A request to the model in a format that is independent of the provider. */
export interface NeutralRequest {
  /** The request body as sent, for byte-by-byte comparison. */
  readonly raw: string;
  /** Messages in order, instructions first. A message with several parts is split into several messages. */
  readonly messages: readonly NeutralMessage[];
}

/** A message or a part of one. */
export interface NeutralMessage {
  /** `system`, `user`, `assistant`, `tool`, or another role of the provider. */
  readonly role: string;
  /** Call id of a tool result, or of a call in an assistant message. */
  readonly toolCallId?: string;
  readonly text: string;
  /** Error flag of a tool result, if the format of the provider has one. */
  readonly isError?: boolean;
}
