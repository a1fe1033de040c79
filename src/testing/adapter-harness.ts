import type { AdapterCapabilities } from '../host/adapter-capabilities.ts';
import type { AdapterOptions } from '../host/adapter-options.ts';
import type { Run } from '../run/run.ts';
import type { ModelFunction, ModelScript } from './model-script.ts';
import type { ScriptedTools, ToolRun } from './scripted-toolbox.ts';

/** How the contract drives an adapter: the real SDK, a scripted model, scripted tools. */
export interface AdapterHarness {
  /** Names the tests, such as `claude-agent-sdk`. */
  readonly name: string;
  readonly capabilities: AdapterCapabilities;
  /** Plays a scene to its end; never rejects for what the SDK does (`ended` says so). */
  run(scene: AdapterScene): Promise<AdapterOutcome>;
  /** Tests of the contract that cannot hold here, by their exact names, each with the reason. */
  readonly skips?: Readonly<Record<string, string>>;
  /** The adapter hears of calls and answers, but does not see what a request offers to which model. Default false. */
  readonly seesNoRequests?: boolean;
  /** The SDK does not report all tokens that an agent below uses. Default false. */
  readonly hidesTokensBelow?: boolean;
  /** What the SDK calls a tool of a scene, such as `mcp__scene__look`; default: its own name. */
  readonly toolNameOf?: (name: string) => string;
  /**
   * Where feedback stands in the next request. `tool-result` (default): in the message of the call it belongs to.
   * `nearby`: in that message or in one after it that answers no call, because the SDK decides.
   */
  readonly feedbackPlace?: 'tool-result' | 'nearby';
}

/**
 * One run of an agent, from the prompt to its end. The harness does what the adapter's documentation tells a user to
 * do, ending the run included where the user has to.
 */
export interface AdapterScene {
  readonly prompt: string;
  /** Up to 60 answers: a limit of turns of the SDK's own must leave room for them. */
  readonly script: ModelScript | ModelFunction;
  readonly tools: ScriptedTools;
  /** An agent below the main one, which is offered the scene's tools as well. */
  readonly below?: AgentBelow;
  /** The run the adapter steers. Absent: the very same program without coxswain. */
  readonly run?: Run;
  /** For the adapter, besides what the harness needs. */
  readonly adapter?: AdapterOptions;
  /** Turns on what forces another turn, where the adapter can do that. */
  readonly forceTurn?: boolean;
  /** The SDK's streaming entry point, consumed to its end. */
  readonly streaming?: boolean;
  /** A session or store of the SDK's own is attached, where there is one. */
  readonly session?: boolean;
  /** A hook, listener or callback of the user's own, beside the adapter's, throws each time. */
  readonly userHookThrows?: boolean;
  /** The user aborts when this main request (from 0) has arrived and is not answered yet. */
  readonly abortAtRequest?: number;
  /** How long each answer of the model takes; default 0. */
  readonly answerAfterMs?: number;
  /** Hooks or wrappers that do nothing, in the places the adapter uses: what overhead is measured against. */
  readonly idleHooks?: boolean;
}

/** An agent that the main one gives work to. */
export interface AgentBelow {
  /** Its name, and in the script that of the tool that asks it: the harness calls it what the SDK does. */
  readonly name: string;
  /** Its instructions. They stand in its requests and in no others, so that the script can tell both agents apart. */
  readonly instructions: string;
  /** The task is handed over, by the SDK's own means, and does not come back. Default: the answer is a tool's result. */
  readonly handsOver?: boolean;
}

/** What came of a scene. Plain JSON. */
export interface AdapterOutcome {
  /** Main requests to the model in order, as they went out. */
  readonly requests: readonly NeutralRequest[];
  /** `normally`: the SDK gave an answer. Else what it threw or answered instead, in its own words. */
  readonly ended: 'normally' | { readonly error: string };
  /** Text of the last answer as the SDK gives it to the user; empty where there is none. */
  readonly finalText: string;
  /** What tools were really called with, in order of start. */
  readonly toolRuns: readonly ToolRun[];
  /** The SDK's own history or session after the run, as text; absent where it has none that can be read. */
  readonly storedHistory?: string;
}

/** A request to the model, whatever the provider's way of writing it. */
export interface NeutralRequest {
  /** The body as sent, for comparing byte by byte. */
  readonly raw: string;
  /** In the order of the request, instructions first; a provider's message with several parts is several here. */
  readonly messages: readonly NeutralMessage[];
}

/** One message, or one part of it. */
export interface NeutralMessage {
  /** `system`, `user`, `assistant`, `tool`, or the provider's own word. */
  readonly role: string;
  /** Of a tool's result, and of a call in an assistant's message. */
  readonly toolCallId?: string;
  readonly text: string;
  /** Of a tool's result, where the provider's format says so. */
  readonly isError?: boolean;
}
