import { isJsonObject, membersOf } from '../../core/base/json.ts';
import type { Guard } from '../host/guarded.ts';
import type { RunScope, ScopedTool } from '../host/run-scope.ts';
import type { AgentLoop } from './agent-loop.ts';
import type { CallBook } from './call-book.ts';
import { textField } from './sdk-shapes.ts';
import { plainOutput, type ToolOutput } from './to-output.ts';

export interface ToolWatch {
  readonly scope: RunScope;
  readonly loopOf: (callId: string) => Pick<AgentLoop, 'calls' | 'run'>;
  readonly guard: Guard;
  readonly watched: WeakSet<object>;
}

type AnyFunction = (...args: readonly unknown[]) => unknown;

export function watchTools<Tools extends object>(tools: Tools, watch: ToolWatch): Tools {
  const entries = Object.entries(tools).map(([name, tool]: [string, unknown]) => [name, watchTool(name, tool, watch)]);
  // Names and types are the same, because functions are replaced with functions of the same type.
  return Object.fromEntries(entries) as Tools;
}

function watchTool(name: string, tool: unknown, watch: ToolWatch): unknown {
  if (!isJsonObject(tool) || watch.watched.has(tool)) return tool;
  const execute = functionOf(tool, 'execute');
  if (execute === undefined) return tool;
  const ownToOutput = functionOf(tool, 'toModelOutput');
  const watchedTool: unknown = Object.create(Reflect.getPrototypeOf(tool), {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: methodDescriptor((...args) => executeWatched(name, () => execute(...args), args, watch)),
    toModelOutput: methodDescriptor((...args) => modelOutput(ownToOutput, args, watch)),
  });
  if (isJsonObject(watchedTool)) watch.watched.add(watchedTool);
  return watchedTool;
}

function functionOf(tool: Readonly<Record<string, unknown>>, name: string): AnyFunction | undefined {
  const value = tool[name];
  // Called with the SDK's arguments.
  return typeof value === 'function' ? (...args) => Reflect.apply(value, tool, args) as unknown : undefined;
}

function methodDescriptor(value: AnyFunction): PropertyDescriptor {
  return { value, configurable: true, enumerable: true, writable: true };
}

/** Runs a tool. Its result or exception is passed on unchanged. The result is a value, a promise, or an iterable of results. */
function executeWatched(name: string, run: () => unknown, args: readonly unknown[], watch: ToolWatch): unknown {
  const { loopOf, guard, scope } = watch;
  const [input, options] = args;
  const { abortSignal, toolCallId } = membersOf(options);
  const id = typeof toolCallId === 'string' ? toolCallId : '';
  const isAborted = (): boolean => abortSignal instanceof AbortSignal && abortSignal.aborted;
  // The call does not come from the model: other code runs the tool directly.
  if (id === '') return run();
  const { calls, run: caller } = loopOf(id);
  const tool = scope.tool(caller, name);
  const succeed = (result: unknown): unknown => {
    tool.leave();
    guard('a tool result', () => calls.end(id, result, false));
    return result;
  };
  const fail = (error: unknown): never => {
    tool.leave({ error });
    guard('a tool result', () => calls.failed(id, error, isAborted()));
    throw error;
  };
  guard('a tool call', () => calls.begin(id, name, input));
  let result: unknown;
  try {
    result = tool.run(run);
  } catch (error) {
    return fail(error);
  }
  if (isAsyncIterable(result)) return eachWatched(result, { id, calls, tool, guard, isAborted });
  return isPromiseLike(result) ? Promise.resolve(result).then(succeed, fail) : succeed(result);
}

interface EachWatch {
  readonly id: string;
  readonly calls: CallBook;
  readonly tool: ScopedTool;
  readonly guard: Guard;
  readonly isAborted: () => boolean;
}

async function* eachWatched(results: AsyncIterable<unknown>, watch: EachWatch): AsyncGenerator {
  const { calls, guard, id, isAborted, tool } = watch;
  let lastValue: unknown;
  let end = (): void => calls.end(id, 'the tool was stopped before its end', true);
  try {
    for await (const result of inScope(results, tool)) {
      lastValue = result;
      guard('a preliminary result', () => calls.update(id, result));
      yield result;
    }
    end = () => calls.end(id, lastValue, false);
  } catch (error) {
    end = () => calls.failed(id, error, isAborted());
    throw error;
  } finally {
    tool.leave();
    guard('a tool result', end);
  }
}

function inScope(results: AsyncIterable<unknown>, tool: ScopedTool): AsyncIterable<unknown> {
  const iterator = tool.run(() => results[Symbol.asyncIterator]());
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => tool.run(() => iterator.next()),
      return: async (value) => (await tool.run(() => iterator.return?.(value))) ?? { done: true, value },
    }),
  };
}

/** Returns the result as the model sees it. It comes from the tool, or else from the SDK. Advice follows the result. */
function modelOutput(ownToOutput: AnyFunction | undefined, args: readonly unknown[], watch: ToolWatch): unknown {
  const { loopOf, guard } = watch;
  const [input] = args;
  const isCall = isJsonObject(input) && 'output' in input;
  const output = ownToOutput === undefined ? plainOutput(isCall ? input['output'] : input) : ownToOutput(...args);
  const id = isCall ? textField(input, 'toolCallId') : '';
  if (id === '') return output;
  const placeAdvice = (result: unknown): unknown =>
    isToolOutput(result)
      ? guard('advice after a result', () => loopOf(id).calls.inHistory(id, result), result)
      : result;
  return isPromiseLike(output) ? Promise.resolve(output).then(placeAdvice) : placeAdvice(output);
}

function isToolOutput(value: unknown): value is ToolOutput {
  return isJsonObject(value) && typeof value['type'] === 'string';
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
