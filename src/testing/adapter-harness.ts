import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import type { AdapterOptions } from '../host/adapter-options.ts';
import type { Run } from '../run/run.ts';
import type { ModelFunction, ModelScript } from './model-script.ts';
import type { ScriptedTools, ToolRun } from './scripted-toolbox.ts';

/** Drives an adapter: the real SDK with a scripted model and scripted tools. */
export interface AdapterHarness {
  /** Name in test titles, such as `claude-agent-sdk`. */
  readonly name: string;
  readonly capabilities: AdapterCapabilities;
  /** Plays a scene to its end; an error of the SDK is in `ended`, not a rejection. */
  run(scene: AdapterScene): Promise<AdapterOutcome>;
  /** Inapplicable tests of the contract, by exact name, with the reason. */
  readonly skips?: Readonly<Record<string, string>>;
  /** The adapter sees calls and responses, but not the model and tools of a request. Default false. */
  readonly seesNoRequests?: boolean;
  /** The SDK does not report all tokens of a subagent. Default false. */
  readonly hidesTokensBelow?: boolean;
  /** The SDK's name of a tool, such as `mcp__scene__look`; default: unchanged. */
  readonly toolNameOf?: (name: string) => string;
  /**
   * Position of feedback in the next request. `tool-result` (default): in the message of its call. `nearby`: in that message
   * or a later one that is not a tool result, as the SDK decides.
   */
  readonly feedbackPlace?: 'tool-result' | 'nearby';
}

/** One run of an agent. The harness follows the adapter's documentation, including how to end the run. */
export interface AdapterScene {
  readonly prompt: string;
  /** Up to 60 responses, which must fit into a limit of turns of the SDK. */
  readonly script: ModelScript | ModelFunction;
  readonly tools: ScriptedTools;
  /** A subagent with the same tools. */
  readonly below?: AgentBelow;
  /** The run to steer. Absent: the same program without coxswain. */
  readonly run?: Run;
  /** Further options for the adapter. */
  readonly adapter?: AdapterOptions;
  /** Enables forced turns, if the adapter has them. */
  readonly forceTurn?: boolean;
  /** Uses the SDK's streaming entry point and consumes the stream. */
  readonly streaming?: boolean;
  /** Attaches a session or store of the SDK, if it has one. */
  readonly session?: boolean;
  /** Adds a hook, listener or callback that always throws. */
  readonly userHookThrows?: boolean;
  /** Aborts when this main request (from 0) has arrived, before the response. */
  readonly abortAtRequest?: number;
  /** Delay of each response of the model; default 0. */
  readonly answerAfterMs?: number;
  /** Adds hooks or wrappers without effect, as the baseline for measurements of overhead. */
  readonly idleHooks?: boolean;
}

/** A subagent. */
export interface AgentBelow {
  /** Its name, and the name of its tool in the script; the harness translates it for the SDK. */
  readonly name: string;
  /** Only in its own requests, so that the script can distinguish the agents. */
  readonly instructions: string;
  /** The task is handed over and does not return. Default: the response is a tool result. */
  readonly handsOver?: boolean;
}

/** Outcome of a scene. Plain JSON. */
export interface AdapterOutcome {
  /** Main requests to the model, in order. */
  readonly requests: readonly NeutralRequest[];
  /** `normally`: the SDK returned a response; else its error. */
  readonly ended: 'normally' | { readonly error: string };
  /** Text of the last response as returned by the SDK; may be empty. */
  readonly finalText: string;
  /** In order of start. */
  readonly toolRuns: readonly ToolRun[];
  /** The SDK's history or session after the run, as text, if it is readable. */
  readonly storedHistory?: string;
}

/** A request to the model in a form common to all providers. */
export interface NeutralRequest {
  /** The body as sent, for comparison byte by byte. */
  readonly raw: string;
  /** In order, instructions first; a message with several parts is several messages here. */
  readonly messages: readonly NeutralMessage[];
}

/** A message or a part of one. */
export interface NeutralMessage {
  /** `system`, `user`, `assistant`, `tool`, or a word of the provider. */
  readonly role: string;
  /** Of a tool result, and of a call in an assistant message. */
  readonly toolCallId?: string;
  readonly text: string;
  /** Of a tool result, if the provider's format has it. */
  readonly isError?: boolean;
}
