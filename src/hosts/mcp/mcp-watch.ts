import { isUtf8 } from 'node:buffer';
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { isJsonObject, jsonOf, textOrUndefined, present } from '../../core/base/json.ts';
import { resultOf } from '../../adapters/host/content-blocks.ts';
import type { AgentEvent } from '../../core/records/agent-event.ts';
import { deliverAdvice, type AdviceHandle } from '../../core/run/advice-handle.ts';
import { type Coxswain, type RunOptions, createCoxswain } from '../../core/run/coxswain.ts';
import type { Run } from '../../core/run/run.ts';
import type { TappedLines } from './line-tap.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { loadConfigSync } from '../config/load-config.ts';
import { notifySink } from '../notify/notify-sink.ts';
import { openStore } from '../../stores/registry/open-store.ts';
import { logFault, MAX_CONFIG_FAULTS } from '../../core/node/fault-log.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';

interface McpWatchOptions {
  readonly cox: Coxswain;
  /** Initial options of the run. The run starts with the first tool call. */
  readonly run: Pick<RunOptions, 'deadline' | 'budget'>;
  readonly onFault: (error: unknown) => void;
}

type Members = Readonly<Record<string, unknown>>;
type Annotations = NonNullable<Extract<AgentEvent, { type: 'tool_execution_start' }>['annotations']>;

interface OpenRequest {
  /** Present for `tools/call`. Absent for `tools/list`. */
  readonly call?: OpenToolCall;
}

interface OpenToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Advice that was requested before the call. It is delivered with the result of the call. */
  readonly adviceBefore: readonly AdviceHandle[];
}

interface CallEnd {
  readonly result: unknown;
  readonly isError: boolean;
  readonly resultMissing?: boolean;
}

/** Larger messages pass unread. Some servers return images of this size, but none return this much text. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_OPEN = 512;
const MAX_TOOLS = 4_096;
const MAX_WAITING = 20;
const MAX_CHARS = 1_000;
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
const CHANNEL = 'tool-result';

/** Only appends a text part to results; unreadable messages pass. Cost: a parse per message while a request is open. */
export class McpWatch {
  readonly #options: McpWatchOptions;
  readonly #openRequests = new Map<string, OpenRequest>();
  readonly #tasks = new Map<string, OpenToolCall>();
  readonly #annotations = new Map<string, Annotations>();
  #waitingAdvice: AdviceHandle[] = [];
  #run: Run | undefined;
  #client: string | undefined;
  #calls = 0;
  /** True if the last record was dropped. */
  #hasDropped = false;

  constructor(options: McpWatchOptions) {
    this.#options = options;
  }

  readonly client: TappedLines = {
    maxBytes: MAX_BYTES,
    passesFirst: true,
    line: (line) => {
      this.#guard(() => forEachMessage(line, (message) => this.#readRequest(message)), undefined);
      return line;
    },
    longLine: () => undefined,
  };

  readonly server: TappedLines = {
    maxBytes: MAX_BYTES,
    line: (line) => (this.#openRequests.size === 0 ? line : this.#guard(() => this.#readResponses(line), line)),
    longLine: (ends) => this.#guard(() => this.#readLongResponse(ends), undefined),
  };

  /** Called when the server or the client has disconnected. Open calls get no result, and the run ends. */
  end(outcome: string): void {
    this.#guard(() => {
      const calls = [...[...this.#openRequests.values()].flatMap(({ call }) => call ?? []), ...this.#tasks.values()];
      for (const call of calls) this.#recordEnd(call, missingResult('the server ended before it answered'));
      for (const advice of [...this.#waitingAdvice.splice(0), ...calls.flatMap(({ adviceBefore }) => adviceBefore)])
        advice.undelivered('no further result of a tool came');
      this.#run?.emit({ type: 'agent_end', outcome });
    }, undefined);
  }

  /** False until the store contains the run's first record, and while the store fails. Advice is given only if it can be recorded. */
  get #isRecorded(): boolean {
    if (this.#hasDropped || this.#run === undefined || this.#run.durableSeq < 0) return false;
    return (this.#options.cox.health().recorder?.failingRuns ?? 0) === 0;
  }

  #readRequest(message: Members): void {
    const { id, method, params } = message;
    if (typeof method !== 'string') return;
    const members = isJsonObject(params) ? params : {};
    if (method === 'notifications/cancelled') return this.#cancelCall(members);
    const key = keyOf(id);
    if (key === undefined) return;
    const { clientInfo, name, taskId } = members;
    if (method === 'initialize' && isJsonObject(clientInfo)) this.#client = textOrUndefined(clientInfo['name']);
    if (method === 'tools/call')
      this.#rememberRequest(key, {
        call: this.#startCall((textOrUndefined(name) ?? 'unknown').slice(0, MAX_CHARS), members),
      });
    else if (method === 'tools/list') this.#rememberRequest(key, {});
    else if (method === 'tasks/result') {
      const task = keyOf(taskId) ?? '';
      const call = this.#tasks.get(task);
      this.#tasks.delete(task);
      if (call !== undefined) this.#rememberRequest(key, { call });
    }
  }

  #rememberRequest(key: string, request: OpenRequest): void {
    const [oldest] = this.#openRequests.keys();
    if (this.#openRequests.size >= MAX_OPEN && oldest !== undefined) this.#openRequests.delete(oldest);
    this.#openRequests.set(key, request);
  }

  #startCall(toolName: string, { arguments: callArguments }: Members): OpenToolCall {
    const run = (this.#run ??= this.#options.cox.startRun({
      ...this.#options.run,
      host: 'mcp',
      ...present({ agentName: this.#client }),
    }));
    const toolCallId = `mcp-${(this.#calls += 1)}`;
    const args = callArguments ?? {};
    const adviceBefore = run.advise('pre_tool_execution', { pendingToolCalls: [{ toolCallId, toolName, args }] });
    const annotations = this.#annotations.get(toolName);
    const start = { toolCallId, toolName, args, ...present({ annotations }) };
    this.#hasDropped = run.emit({ type: 'tool_execution_start', ...start }) === 'dropped';
    return { toolCallId, toolName, adviceBefore };
  }

  #cancelCall({ requestId }: Members): void {
    const call = this.#takeRequest(requestId)?.call;
    if (call !== undefined) this.#queueAdvice(this.#endCall(call, missingResult('the client cancelled the call')));
  }

  #readResponses(line: Buffer): Buffer {
    let changedLine = line;
    forEachMessage(line, (message, path) => {
      const { id, method, result, error } = message;
      if (method !== undefined) return;
      const request = this.#takeRequest(id);
      if (request === undefined) return;
      const { call } = request;
      if (isJsonObject(result)) {
        if (call === undefined) this.#rememberAnnotations(result);
        else if (isJsonObject(result['task'])) this.#continueAsTask(call, result['task']);
        else changedLine = this.#endWithResult(changedLine, path, call, result);
      } else if (call !== undefined) {
        const errorMessage = isJsonObject(error) ? textOrUndefined(error['message']) : undefined;
        this.#queueAdvice(this.#endCall(call, { result: errorMessage ?? 'an error without a message', isError: true }));
      }
    });
    return changedLine;
  }

  /** Handles a response over the size limit. */
  #readLongResponse(ends: string): void {
    for (const [, id = ''] of ends.matchAll(/"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,20})/g)) {
      const call = this.#takeRequest(jsonOf(id))?.call;
      if (call !== undefined) {
        this.#queueAdvice(this.#endCall(call, { result: `a result of more than ${MAX_BYTES} bytes`, isError: false }));
      }
    }
  }

  #takeRequest(id: unknown): OpenRequest | undefined {
    const key = keyOf(id) ?? '';
    const request = this.#openRequests.get(key);
    this.#openRequests.delete(key);
    return request;
  }

  #continueAsTask(call: OpenToolCall, { taskId }: Members): void {
    const task = keyOf(taskId);
    if (task !== undefined && this.#tasks.size < MAX_OPEN) this.#tasks.set(task, call);
  }

  #endWithResult(line: Buffer, path: readonly number[], call: OpenToolCall, result: Members): Buffer {
    const { content, structuredContent, isError } = result;
    const recordedResult = resultOf(content ?? structuredContent ?? result);
    const newAdvice = this.#endCall(call, { result: recordedResult, isError: isError === true });
    const advice = [...this.#waitingAdvice.splice(0), ...newAdvice];
    if (advice.length === 0) return line;
    if (!this.#isRecorded || appendTextPart(line, '', path) === undefined) {
      this.#queueAdvice(advice);
      return line;
    }
    const text = deliverAdvice(advice, { channel: CHANNEL });
    return text === undefined ? line : (appendTextPart(line, text, path) ?? line);
  }

  #endCall(call: OpenToolCall, end: CallEnd): readonly AdviceHandle[] {
    const run = this.#recordEnd(call, end);
    if (run === undefined) return [];
    const advice = [...call.adviceBefore, ...run.advise('post_tool_result')];
    // When no call is open, the client calls the model next.
    const hasOpenCall = [...this.#openRequests.values()].some((request) => request.call !== undefined);
    return hasOpenCall ? advice : [...advice, ...run.advise('pre_tool_selection')];
  }

  #recordEnd({ toolCallId, toolName }: OpenToolCall, end: CallEnd): Run | undefined {
    this.#hasDropped = this.#run?.emit({ type: 'tool_execution_end', toolCallId, toolName, ...end }) === 'dropped';
    return this.#run;
  }

  #queueAdvice(advice: readonly AdviceHandle[]): void {
    this.#waitingAdvice.push(...advice);
    const oldestAdvice = this.#waitingAdvice.splice(0, Math.max(0, this.#waitingAdvice.length - MAX_WAITING));
    for (const handle of oldestAdvice) handle.undelivered('no result of a tool could carry it');
  }

  #rememberAnnotations({ tools }: Members): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools.slice(0, MAX_TOOLS)) {
      if (!isJsonObject(tool)) continue;
      const { name, annotations } = tool;
      if (typeof name !== 'string' || name.length > MAX_CHARS || !isJsonObject(annotations)) continue;
      const hints = HINTS.filter((hint) => typeof annotations[hint] === 'boolean');
      if (this.#annotations.size >= MAX_TOOLS || hints.length === 0) this.#annotations.delete(name);
      else this.#annotations.set(name, Object.fromEntries(hints.map((hint) => [hint, annotations[hint] === true])));
    }
  }

  #guard<Result>(work: () => Result, otherwise: Result): Result {
    try {
      return work();
    } catch (error) {
      this.#options.onFault(error);
      return otherwise;
    }
  }
}

/** Calls `read` for each message of a line, with the message's position in a batch. Does nothing for a line that is not JSON. */
function forEachMessage(line: Buffer, read: (message: Members, path: readonly number[]) => void): void {
  const value = jsonOf(line.toString());
  if (!Array.isArray(value)) {
    if (isJsonObject(value)) read(value, []);
    return;
  }
  for (const [at, message] of value.entries()) if (isJsonObject(message)) read(message, [at]);
}

function keyOf(id: unknown): string | undefined {
  const isId = typeof id === 'number' || (typeof id === 'string' && id.length <= MAX_CHARS);
  return isId ? JSON.stringify(id) : undefined;
}

function missingResult(result: string): CallEnd {
  return { result, isError: true, resultMissing: true };
}

/** Every other byte stays. Undefined without a content list. `path`: position of the response in a batch. */
function appendTextPart(message: Buffer, text: string, path: readonly number[] = []): Buffer | undefined {
  if (!isUtf8(message)) return undefined;
  const json = message.toString();
  const root = parseTree(json);
  const content = root === undefined ? undefined : findNodeAtLocation(root, [...path, 'result', 'content']);
  if (content?.type !== 'array') return undefined;
  const end = content.offset + content.length - 1;
  const part = JSON.stringify({ type: 'text', text });
  const changed = `${json.slice(0, end)}${content.children?.length ? ',' : ''}${part}${json.slice(end)}`;
  // Of members with the same name, parsers keep the last one: the part must stand in what they read.
  const value = jsonOf(changed);
  const response = path.length === 0 ? value : Array.isArray(value) ? (value[path[0] ?? 0] as unknown) : undefined;
  const result = isJsonObject(response) ? response['result'] : undefined;
  const parts = isJsonObject(result) ? result['content'] : undefined;
  const last: unknown = Array.isArray(parts) ? parts.at(-1) : undefined;
  return isJsonObject(last) && last['type'] === 'text' && last['text'] === text ? Buffer.from(changed) : undefined;
}

export interface OpenWatch {
  readonly watch: McpWatch;
  /** Ends the run and stores pending records. Takes at most two seconds. Never throws. */
  close(outcome: string): Promise<void>;
}

const CLOSING_MS = 2_000;
const STORE_WAIT_MS = 2_000;

/** Errors go to the fault log. Returns undefined if nothing can be recorded; messages then pass unwatched. */
export async function openWatch(env: NodeJS.ProcessEnv): Promise<OpenWatch | undefined> {
  if (env['COXSWAIN_DISABLE'] === '1') return undefined;
  const projectFolder = projectFolderOf(process.cwd(), env['CLAUDE_PROJECT_DIR']);
  let lastMessage: string | undefined;
  const onFault = (error: unknown): undefined => {
    const message = messageOf(error);
    // Log a repeated error only once.
    if (message !== lastMessage) logFault({ where: 'mcp', message }, { env, projectFolder, nowMs: Date.now() }, true);
    lastMessage = message;
    return undefined;
  };
  try {
    const { resolved, problems } = loadConfigSync({ projectFolder, env });
    for (const problem of problems.slice(0, MAX_CONFIG_FAULTS)) onFault(JSON.stringify(problem));
    // Without a store nothing is recorded, and the agent still gets advice.
    const store = await openStore(resolved.store.address, { waitMs: STORE_WAIT_MS }).catch(onFault);
    const { steering, redaction, deadline, budget, notify } = resolved;
    const cox = createCoxswain({ ...steering, redaction, ...(store !== undefined && { store }) });
    const notifications = notify === undefined ? undefined : notifySink({ ...notify, onFailure: onFault });
    if (notifications !== undefined) cox.listen(notifications);
    const watch = new McpWatch({ cox, run: present({ deadline, budget }), onFault });
    return {
      watch,
      close: async (outcome) => {
        watch.end(outcome);
        await cox.close({ timeLimitMs: CLOSING_MS }).catch((error: unknown) => {
          // The recorder has logged its losses.
          if (!isLoss(error)) onFault(error);
        });
        await notifications?.finish();
      },
    };
  } catch (error) {
    onFault(error);
    return undefined;
  }
}

function isLoss(error: unknown): boolean {
  return error instanceof CoxswainError && (error.code === 'trajectory-io' || error.code === 'trajectory-rejected');
}
