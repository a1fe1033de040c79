import { isJsonObject, membersOf, textOrEmpty } from '../../core/base/json.ts';
import { messageOf } from '../../core/base/error.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { Run } from '../../core/run/run.ts';
import { checkAdapter } from '../host/adapter-options.ts';
import { fetchSteering, type FetchSteeringOptions } from '../host/fetch-steering.ts';
import { followed } from '../host/run-outcome.ts';
import { runKept, type ToolParts } from '../host/run-tool.ts';
import type { Fetch } from '../host/steered-fetch.ts';
import { messagesApi } from './messages-api.ts';

/** Options of the adapter of `@anthropic-ai/sdk`. */
export type AnthropicOptions = FetchSteeringOptions;

/** A call in an answer: a `tool_use` block. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A text part of a tool's result. */
export interface ResultText {
  type: 'text';
  text: string;
}

/** A tool's result for the next request. */
export interface ToolResult<Part = ResultText> {
  type: 'tool_result';
  tool_use_id: string;
  content: string | (Part | ResultText)[];
  is_error?: true;
}

/** A tool for `client.beta.messages.toolRunner`, such as one of `betaZodTool`. */
export interface RunnableTool {
  readonly name: string;
  readonly run: (args: never, context?: never) => unknown;
}

/**
 * Steers one agent built on `@anthropic-ai/sdk`. Use a separate client for the agent, because everything that passes through
 * the client belongs to the run. Model requests from within a tool belong to a child run.
 */
export interface AnthropicSteering {
  /** Returns a `fetch` for `new Anthropic({ fetch })` that records requests and answers and adds advice. */
  fetch(base?: Fetch): Fetch;
  /** Returns a tool for `toolRunner` that records its calls and adds feedback to its results. */
  tool<Tool extends RunnableTool>(tool: Tool): Tool;
  /**
   * Runs a call in a custom loop. An error of `execute` becomes a result with `is_error`.
   *
   * @returns the block for the next request, with feedback if there is any
   */
  runToolCall<Part = ResultText>(call: ToolUse, execute: (input: never) => unknown): Promise<ToolResult<Part>>;
  /**
   * Waits for the agent's work. If the work fails, the run ends with the outcome of the error. Results and errors are passed
   * on.
   */
  follow<Result>(work: PromiseLike<Result>): Promise<Result>;
}

/**
 * Creates the steering of an agent built on `@anthropic-ai/sdk`, with any loop; see docs/anthropic.md.
 *
 * @throws CoxswainError "invalid-argument" for an option out of range
 */
export function anthropicSteering(run: Run, options: AnthropicOptions = {}): AnthropicSteering {
  checkAdapter('anthropicSteering', run, options, { isError: true, isRefused: true });
  const steering = fetchSteering(
    run,
    messagesApi,
    options,
    'create the client with new Anthropic({ fetch: steering.fetch() })',
  );
  return {
    fetch: steering.fetch,
    tool: (tool) => steeredTool(steering.toolParts('result'), tool),
    async runToolCall<Part>(call: ToolUse, execute: (input: never) => unknown): Promise<ToolResult<Part>> {
      // The loop knows the type of its tool's input.
      const work = (): unknown => execute(call.input as never);
      const { feedback, result, thrown } = await runKept(steering.toolParts('result'), {
        call: issuedCall(call),
        run: work,
      });
      return {
        type: 'tool_result',
        tool_use_id: call.id,
        // The parts come from the loop's own tool.
        content: withFeedback(result, feedback) as ToolResult<Part>['content'],
        ...(thrown === undefined ? {} : { is_error: true }),
      };
    },
    follow: (work) => followed(run, work),
  };
}

function issuedCall({ id, input, name }: ToolUse): Parameters<typeof runKept>[1]['call'] {
  return { id, name, args: input, argsText: JSON.stringify(toJson(input)) };
}

function steeredTool<Tool extends RunnableTool>(parts: ToolParts, tool: Tool): Tool {
  const run = async (args: never, context?: never): Promise<unknown> => {
    const toolUse = membersOf(membersOf(context)['toolUse']);
    const { id, input = args } = toolUse;
    const { feedback, result, thrown } = await runKept(parts, {
      call: issuedCall({ id: textOrEmpty(id), name: tool.name, input }),
      run: () => tool.run(args, context),
      isAborted: () => isAborted(context),
    });
    if (thrown !== undefined) throw feedback === undefined ? thrown.error : withAddition(thrown.error, feedback);
    return feedback === undefined ? result : withFeedback(result, feedback);
  };
  return { ...tool, run };
}

/** The same error with a text after its message, which the SDK makes the result. `content` is that of the SDK's `ToolError`. */
function withAddition(error: unknown, text: string): unknown {
  if (!(error instanceof Error)) return new Error(`${messageOf(error)}\n\n${text}`);
  return Object.create(error, {
    message: { value: `${error.message}\n\n${text}`, enumerable: false },
    ...('content' in error ? { content: { value: withFeedback(error.content, text), enumerable: true } } : {}),
  });
}

function isAborted(context: unknown): boolean {
  const { signal } = membersOf(context);
  return signal instanceof AbortSignal && signal.aborted;
}

/** Returns the content of a result: text, or the tool's own parts. Feedback follows it. */
function withFeedback(result: unknown, feedback: string | undefined): string | unknown[] {
  if (isPartList(result)) return feedback === undefined ? [...result] : [...result, { type: 'text', text: feedback }];
  const text = typeof result === 'string' ? result : result === undefined ? '' : JSON.stringify(toJson(result));
  return feedback === undefined ? text : `${text}\n\n${feedback}`;
}

function isPartList(result: unknown): result is readonly object[] {
  return Array.isArray(result) && result.length > 0 && result.every((part) => isJsonObject(part) && 'type' in part);
}
