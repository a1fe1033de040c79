import { canonicalJson } from '../../core/base/canonical-json.ts';
import { present } from '../../core/base/present.ts';
import { readCall } from '../../core/detect/calls/tool-semantics.ts';
import type { PayloadOf } from '../../core/records/field-types.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { contextTokensOf } from '../../core/facts/context-tokens.ts';
import type { FailureRow, FilesRow, RunState, SeenRequest } from './api-shapes.ts';

const MAX_FILES = 2_000;
/** Maximum number of files and failures in a response. The latest are kept. */
const MAX_LATEST = 20;
const NAME_CHARS = 200;

/** Computes the state of a run by folding its records up to a call. */
export class RunStateFold {
  readonly #view = new RunView();
  readonly #readFiles = new Set<string>();
  readonly #writtenFiles = new Set<string>();
  /** Calls that failed and have not succeeded since then, keyed by tool and arguments. */
  readonly #failures = new Map<string, FailureRow>();
  #errorsInARow = 0;
  #contextTokens: number | undefined;
  #deadlineMs: number | undefined;
  #lastRequest: SeenRequest | undefined;
  /** The request that led to the last call. Before the first call, it is the last request. */
  #request: SeenRequest | undefined;

  get calls(): number {
    return this.#view.calls;
  }

  isOpen(call: number): boolean {
    return this.#view.openCalls.some(({ number }) => number === call);
  }

  fold(record: TrajectoryRecord): void {
    const { payload } = record;
    const call = this.#view.fold(record);
    if (call?.endSeq !== undefined) this.#noteResult(call, record);
    if (payload.kind === 'deadline_set') this.#deadlineMs = payload.deadline_at_unix_ms;
    if (payload.kind === 'run_started' && payload.steering?.deadline_at_unix_ms !== undefined)
      this.#deadlineMs = payload.steering.deadline_at_unix_ms;
    if (payload.kind === 'provider_request_prepared') this.#lastRequest = requestOf(payload);
    if (payload.kind === 'tool_started' || this.calls === 0) this.#request = this.#lastRequest;
    this.#contextTokens = contextTokensOf(payload, this.#view.counts.modelId) ?? this.#contextTokens;
  }

  state(): RunState {
    const { calls, checks, counts, lastAtMs, usage } = this.#view;
    const timeLeftMs = this.#deadlineMs === undefined ? undefined : this.#deadlineMs - lastAtMs;
    return {
      call: calls,
      atMs: lastAtMs,
      elapsedMs: counts.startedAtMs > 0 ? lastAtMs - counts.startedAtMs : 0,
      read: filesRowOf(this.#readFiles),
      written: filesRowOf(this.#writtenFiles),
      checks: checks.map(({ command, failed, number }) => ({
        command: command.slice(0, NAME_CHARS).toWellFormed(),
        failed,
        call: number,
      })),
      failures: [...this.#failures.values()].slice(-MAX_LATEST),
      errorsInARow: this.#errorsInARow,
      ...usage,
      ...present({ contextTokens: this.#contextTokens, timeLeftMs, request: this.#request }),
    };
  }

  #noteResult(call: RunCall, record: TrajectoryRecord): void {
    const { args, failed, number, outcome, tool } = call;
    // A refused or cancelled call has neither failed nor succeeded.
    if (outcome !== undefined) return;
    const { kind, target } = readCall(tool, args);
    const key = `${tool} ${canonicalJson(args)}`.slice(0, 2_000);
    if (failed) {
      const line = errorLineOf(call, record)?.slice(0, NAME_CHARS).toWellFormed() ?? 'failed';
      this.#failures.delete(key);
      if (this.#failures.size < MAX_FILES)
        this.#failures.set(key, { call: number, tool: tool.slice(0, NAME_CHARS), line });
      this.#errorsInARow += 1;
      return;
    }
    this.#failures.delete(key);
    this.#errorsInARow = 0;
    const files = kind === 'read' ? this.#readFiles : kind === 'write' ? this.#writtenFiles : undefined;
    if (files === undefined || target === undefined || files.size >= MAX_FILES) return;
    // Deleting the entry first moves it to the end. The last entries are listed as the latest files.
    files.delete(target);
    files.add(target);
  }
}

function requestOf(preparedRequest: PayloadOf<'provider_request_prepared'>): SeenRequest {
  const {
    message_count: messages,
    model_id,
    system_prompt_chars: systemChars,
    tool_count: toolCount,
    tools,
  } = preparedRequest;
  const modelId = model_id?.slice(0, NAME_CHARS).toWellFormed();
  const toolNames = tools.slice(0, MAX_LATEST).map((tool) => tool.slice(0, NAME_CHARS).toWellFormed());
  return { ...present({ modelId }), messages, systemChars, toolCount, tools: toolNames };
}

function filesRowOf(files: ReadonlySet<string>): FilesRow {
  const latest = [...files].slice(-MAX_LATEST).reverse();
  return { count: files.size, latest: latest.map((file) => file.slice(0, NAME_CHARS).toWellFormed()) };
}
