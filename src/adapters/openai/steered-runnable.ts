import { messageOf } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import { decodedArgs } from '../host/content-blocks.ts';
import type { IssuedCall } from '../host/issued-call.ts';
import { refusedArgs, runTool, type ToolParts } from '../host/run-tool.ts';
import type { RunnableFunction, RunnableTool } from './sdk-shapes.ts';
import { callsOfRunner } from './to-events.ts';
import { runnerText, withFeedback } from './to-output.ts';

export interface RunnableParts extends ToolParts {
  /** Returns true if feedback can be added to the tool's result. Returns false if the runner ends with that result. */
  readonly carries: () => boolean;
}

/** A tool made by the package's `zodFunction`. The callback is stored in a non-enumerable property. */
interface ParseableTool extends RunnableTool {
  readonly $callback: (...args: never) => unknown;
  readonly $parseRaw: (input: string) => unknown;
  readonly function: { readonly name: string };
}

/** Wraps a tool of `runTools` so that its calls are reported. Other tools are returned unchanged. */
export function steeredRunnable<Tool extends RunnableTool>(parts: RunnableParts, tool: Tool): Tool {
  if (isParseable(tool)) {
    // `zodFunction` created this tool. Its callback takes the result of the parser.
    const callback = tool.$callback as RunnableFunction['function'];
    const { parse, function: run } = steeredFunction(parts, {
      name: tool.function.name,
      function: callback,
      parse: tool.$parseRaw,
    });
    const ownDescriptors = Object.getOwnPropertyDescriptors(tool);
    return Object.create(Object.getPrototypeOf(tool), {
      ...ownDescriptors,
      $callback: { ...ownDescriptors.$callback, value: run },
      $parseRaw: { ...ownDescriptors.$parseRaw, value: parse },
    });
  }
  const { function: inner } = tool;
  return isRunnable(inner) ? { ...tool, function: { ...inner, ...steeredFunction(parts, inner) } } : tool;
}

function isParseable(tool: RunnableTool): tool is ParseableTool {
  return '$callback' in tool && typeof tool.$callback === 'function' && '$parseRaw' in tool;
}

function isRunnable(inner: object | undefined): inner is RunnableFunction {
  return inner !== undefined && 'function' in inner && typeof inner.function === 'function';
}

/** Returns the function, parser and name that replace those of the tool. */
function steeredFunction(parts: RunnableParts, inner: RunnableFunction): RunnableFunction {
  const name = inner.name ?? inner.function.name;
  const { parse } = inner;
  // The runner passes only the parsed arguments. The text of the arguments identifies the call in the message.
  const texts = new WeakMap<object, string>();
  const rememberArgs = (parsed: unknown, text: string): unknown => {
    if (typeof parsed === 'object' && parsed !== null) texts.set(parsed, text);
    return parsed;
  };
  const refuseArgs = (error: unknown, text: string): never => {
    const feedback = refusedArgs(parts, namelessCall(name, text), error);
    // The runner uses the error message as the tool's result.
    throw feedback === undefined ? error : new Error(withFeedback(messageOf(error), feedback), { cause: error });
  };
  return {
    name,
    ...(parse === undefined
      ? {}
      : {
          parse: (text) => {
            try {
              const parsed = parse.call(inner, text);
              if (!(parsed instanceof Promise)) return rememberArgs(parsed, text);
              return parsed.then(
                (value) => rememberArgs(value, text),
                (error: unknown) => refuseArgs(error, text),
              );
            } catch (error) {
              return refuseArgs(error, text);
            }
          },
        }),
    function: async (args, runner, context) => {
      const { result, feedback } = await runTool(parts, {
        call: namelessCall(name, argsTextOf(args, texts)),
        beside: parts.guard('tool', () => callsOfRunner(runner), []),
        run: () => inner.function(args, runner, context),
        isAborted: () => isAborted(runner),
        carries: parts.carries,
      });
      return feedback === undefined ? result : withFeedback(runnerText(result), feedback);
    },
  };
}

function argsTextOf(args: unknown, texts: WeakMap<object, string>): string {
  if (typeof args === 'string') return args;
  const text = typeof args === 'object' && args !== null ? texts.get(args) : undefined;
  return text ?? JSON.stringify(toJson(args));
}

/** Creates a call of which only the tool and its arguments are known. */
function namelessCall(name: string, argsText: string): IssuedCall {
  return { id: '', name, args: decodedArgs(argsText), argsText };
}

/** Returns true if the runner was aborted. It then ends regardless of what its tools return. */
function isAborted(runner: unknown): boolean {
  const controller = isJsonObject(runner) ? runner['controller'] : undefined;
  return isJsonObject(controller) && controller['signal'] instanceof AbortSignal && controller['signal'].aborted;
}
