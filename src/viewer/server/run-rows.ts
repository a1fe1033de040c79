import { hashText } from '../../core/base/hash.ts';
import { present } from '../../core/base/json.ts';
import { readCall } from '../../core/detect/calls/tool-semantics.ts';
import type { RunCall } from '../../core/facts/run-call.ts';
import { rowOf } from '../../core/records/kind-definition.ts';
import type { StoredContent, StoredMessage } from '../../core/records/agent-message.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { CallMark, CallsAround, RowKind, RunRow } from './api-shapes.ts';

const CALLS_AROUND = 4;
const MAX_COMPARED = 20_000;
const TARGET_CHARS = 60;
/** The rows that may begin a turn of the agent, whose cost they show. */
const PAID: ReadonlySet<RowKind> = new Set(['answer', 'thinking', 'call', 'result']);

export interface RowFacts {
  readonly call: RunCall | undefined;
  readonly failure: string | undefined;
  /** Cost of the response in US dollars; 0 if unknown. */
  readonly costUsd: number;
}

/** A result is in its call's row; bookkeeping has none. Memory: 150 bytes a row, two hashes for 20,000 different calls. */
export class RunRows {
  readonly #rows: RunRow[] = [];
  readonly #calls: number[] = [];
  /** The first call with the same arguments and result, and that result, by tool and arguments. */
  readonly #firstCalls = new Map<string, { readonly call: number; readonly result: string }>();
  readonly #isFirstLook: boolean;
  #costUsd = 0;
  #isAnswered = false;

  /** A first look knows neither the kinds of calls nor which calls are the same, since both take most of the time. */
  constructor({ isFirstLook = false }: { readonly isFirstLook?: boolean } = {}) {
    this.#isFirstLook = isFirstLook;
  }

  static from(rows: readonly RunRow[]): RunRows {
    const restored = new RunRows();
    for (const row of rows) restored.#add(row);
    return restored;
  }

  get list(): readonly RunRow[] {
    return this.#rows;
  }

  get calls(): number {
    return this.#calls.length;
  }

  fold(record: TrajectoryRecord, { call, costUsd, failure }: RowFacts): void {
    const { payload, seq } = record;
    this.#costUsd += costUsd;
    if (payload.kind === 'turn_started') this.#isAnswered = false;
    if (payload.kind === 'message_appended' && payload.message.role === 'assistant') this.#isAnswered = true;
    const kind = this.#kindOf(record, call);
    if (kind === undefined) {
      if (call?.endSeq !== undefined) this.#end(call, record, failure);
      return;
    }
    const paidUsd = this.#costUsd > 0 && PAID.has(kind) ? this.#costUsd : undefined;
    if (paidUsd !== undefined) this.#costUsd = 0;
    this.#add({ seq, kind, ...present({ call: call?.number, costUsd: paidUsd }) });
    if (call?.endSeq !== undefined) this.#end(call, record, failure);
  }

  seqOf(call: number): number {
    const index = this.#calls[Math.min(Math.max(1, call), this.calls) - 1];
    return index === undefined ? 0 : (this.#rows[index]?.seq ?? 0);
  }

  around(callsBefore: number): CallsAround {
    const failureOf = (index: number | undefined): string | undefined =>
      index === undefined ? undefined : this.#rows[index]?.failure;
    const line = failureOf(this.#calls[callsBefore - 1]);
    const marksOf = (from: number, to: number): readonly CallMark[] =>
      this.#calls.slice(Math.max(0, from), Math.max(0, to)).map((index) => {
        const failure = failureOf(index);
        return failure === undefined ? 'no-failure' : failure === line ? 'same-failure' : 'other-failure';
      });
    return {
      before: marksOf(callsBefore - CALLS_AROUND, callsBefore),
      after: marksOf(callsBefore, callsBefore + CALLS_AROUND),
    };
  }

  #kindOf({ payload }: TrajectoryRecord, call: RunCall | undefined): RowKind | undefined {
    switch (payload.kind) {
      case 'tool_ended':
        return call?.startLost === true ? 'result' : undefined;
      case 'message_appended':
        return kindOfMessage(payload.message);
      case 'turn_ended':
        return this.#isAnswered ? undefined : kindOfMessage(payload.assistant);
      default: {
        const kind = rowOf(payload);
        // The cases above handle messages and results.
        return kind === 'detail' || kind === 'message' ? undefined : kind;
      }
    }
  }

  #add(row: RunRow): void {
    if (row.call !== undefined && row.call > this.calls) this.#calls.push(this.#rows.length);
    this.#rows.push(row);
  }

  #end(call: RunCall, { payload, seq }: TrajectoryRecord, failure: string | undefined): void {
    const index = this.#calls[call.number - 1];
    const row = index === undefined ? undefined : this.#rows[index];
    if (index === undefined || row === undefined || payload.kind !== 'tool_ended') return;
    const { args, failed, tool } = call;
    const needsArgs = !this.#isFirstLook && (call.kind === undefined || call.kind === 'read');
    const semantics = needsArgs ? readCall(tool, args) : undefined;
    const kind = call.kind ?? semantics?.kind;
    const target = kind === 'read' ? semantics?.target?.split('/').at(-1)?.slice(0, TARGET_CHARS).toWellFormed() : '';
    this.#rows[index] = {
      ...row,
      ...(seq === row.seq ? {} : { end: seq }),
      ...present({ tool: kind, failure, same: this.#isFirstLook ? undefined : this.#sameCall(call, payload.result) }),
      ...(failed ? { failed: true as const } : {}),
      ...(target === undefined || target === '' ? {} : { target }),
    };
  }

  #sameCall({ args, number, startLost, tool }: RunCall, result: unknown): number | undefined {
    if (startLost) return undefined;
    const key = hashText(`${tool}\n${JSON.stringify(args)}`);
    const text = hashText(JSON.stringify(result) ?? '');
    const first = this.#firstCalls.get(key);
    if (first?.result === text) return first.call;
    if (first !== undefined || this.#firstCalls.size < MAX_COMPARED)
      this.#firstCalls.set(key, { call: number, result: text });
    return undefined;
  }
}

/** Returns undefined for a message without a content of its own: calls have separate rows. */
function kindOfMessage({ content, role }: StoredMessage): RowKind | undefined {
  if (role === 'tool_result' || !hasContent(content)) return undefined;
  if (role !== 'assistant') return role === 'user' ? 'prompt' : 'system';
  const isThinking =
    Array.isArray(content) && content.every(({ type }) => type === 'reasoning' || type === 'tool_call');
  return isThinking ? 'thinking' : 'answer';
}

function hasContent(content: StoredContent): boolean {
  if (typeof content === 'string') return content.trim() !== '';
  return content.some((block) => {
    if (block.type === 'tool_call') return false;
    return !('text' in block) || typeof block.text !== 'string' || block.text.trim() !== '';
  });
}
