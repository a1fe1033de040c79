import { present, type JsonObject } from '../../core/base/json.ts';
import type { RunEnded, ToolEnded, TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import type { StoredContent, StoredContentBlock, StoredUsage } from '../../core/records/agent-message.ts';
import { inferIsError } from '../../core/detect/calls/answer-rules.ts';
import { resultText } from '../../core/detect/calls/answer-reading.ts';
import { type CallShape, type ResultShape, SourceCallIds } from './call-ids.ts';
import type { FormatName, ImportedRun, ImportItem } from '../importer.ts';
import { SkipCounts } from './skip-counts.ts';
import { plainest } from './source-content.ts';

export type AnswerPart = StoredContentBlock | { readonly type: 'call'; readonly call: CallShape };

export interface AnswerShape {
  readonly parts: readonly AnswerPart[];
  readonly stopReason?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly modelId?: string | undefined;
  readonly usage?: StoredUsage | undefined;
  /** True if the answer continues the previous one, or no model wrote it: it starts no turn and leaves calls open. */
  readonly sameTurn?: boolean;
  /** Time of its first part, if the answer arrived in parts. */
  readonly beganAtMs?: number | undefined;
}

export interface ToolAnswerShape extends Pick<ResultShape, 'sourceId' | 'result' | 'exitCode' | 'outcome'> {
  /** Error flag or exit code of the source; undefined if it has neither. */
  readonly isError?: boolean | undefined;
  /** Result of format-specific failure detection, used if there is no flag; default `inferIsError`. */
  readonly readsAsError?: boolean | undefined;
  /** Not stored if it is negative or not finite. */
  readonly durationMs?: number | undefined;
}

type RunFacts = {
  readonly [Name in Exclude<keyof ImportedRun, 'key' | 'id' | 'format'>]?: ImportedRun[Name] | undefined;
} & {
  /** Default: the key of the run. */
  readonly id?: string;
};

/** In the order turn, message, calls, results. A call without a result is missing at the next answer or the end. */
export class RunItems {
  readonly runKey: string;
  readonly calls: SourceCallIds = new SourceCallIds();
  /** Counts intentionally skipped content. `finish` reports it as a note. */
  readonly skipped: SkipCounts = new SkipCounts();
  /** Counts lost content. `finish` reports it as an error. */
  readonly lost: SkipCounts = new SkipCounts();

  constructor(runKey: string) {
    this.runKey = runKey;
  }

  begin(format: FormatName, facts: RunFacts = {}): ImportItem {
    return { type: 'run', run: { key: this.runKey, id: this.runKey, format, ...present(facts) } };
  }

  record(payload: TrajectoryPayload, atMs: number | undefined): ImportItem {
    return atMs === undefined
      ? { type: 'record', runKey: this.runKey, payload }
      : { type: 'record', runKey: this.runKey, payload, atMs };
  }

  message(role: 'system' | 'user', content: StoredContent, atMs: number | undefined): ImportItem {
    return this.record({ kind: 'message_appended', message: { role, content } }, atMs);
  }

  turn(atMs: number | undefined): readonly ImportItem[] {
    return [...this.#missingResults(atMs), this.record({ kind: 'turn_started' }, atMs)];
  }

  /** A model's answer and its calls. `atMs` is the time at which the answer was complete. */
  answer(answer: AnswerShape, atMs: number | undefined): readonly ImportItem[] {
    const opening = answer.sameTurn === true ? [] : this.turn(answer.beganAtMs ?? atMs);
    const startItems: ImportItem[] = [];
    const blocks = answer.parts.map((part): StoredContentBlock => {
      if (part.type !== 'call') return part;
      const payload = this.calls.start(part.call);
      startItems.push(this.record(payload, atMs));
      return { type: 'tool_call', id: payload.tool_call_id, name: payload.tool_name, args: payload.args };
    });
    const { stopReason, errorMessage, modelId, usage } = answer;
    const message = {
      role: 'assistant',
      content: plainest(blocks),
      ...present({ stop_reason: stopReason, error_message: errorMessage, model_id: modelId, usage }),
    } as const;
    return [...opening, this.record({ kind: 'message_appended', message }, atMs), ...startItems];
  }

  /** Adds a tool result. A result without an open call is counted, and `finish` reports it. */
  result(answer: ToolAnswerShape, atMs: number | undefined): readonly ImportItem[] {
    const isError = answer.isError ?? answer.readsAsError ?? inferIsError(resultText(answer.result));
    const isInferred = answer.isError === undefined && isError;
    const endPayload = this.calls.end({
      sourceId: answer.sourceId,
      result: answer.result,
      isError,
      exitCode: answer.exitCode,
      outcome: answer.outcome,
      inferred: isInferred && answer.outcome === undefined,
    });
    if (endPayload !== undefined) return [this.ended(endPayload, answer.durationMs, atMs)];
    this.skipped.add('tool results without a call');
    return [];
  }

  ended(payload: ToolEnded, durationMs: number | undefined, atMs: number | undefined): ImportItem {
    const isDuration = durationMs !== undefined && Number.isFinite(durationMs) && durationMs >= 0;
    return this.record(isDuration ? { ...payload, duration_ms: Math.round(durationMs) } : payload, atMs);
  }

  /** Closes open calls, ends the run if the source says how it ended, and reports skipped content. */
  finish(outcome?: RunEnded, atMs?: number): readonly ImportItem[] {
    return [
      ...this.#missingResults(atMs),
      ...(outcome === undefined ? [] : [this.record(outcome, atMs)]),
      ...this.lost.report('error', this.runKey),
      ...this.skipped.report('note', this.runKey),
      { type: 'end', runKey: this.runKey },
    ];
  }

  #missingResults(atMs: number | undefined): readonly ImportItem[] {
    return this.calls.endMissing().map((payload) => this.record(payload, atMs));
  }
}

interface EndFacts {
  readonly reason?: RunEnded['reason'];
  readonly success?: boolean | undefined;
  readonly reward?: number | undefined;
  readonly labels?: JsonObject | undefined;
}

/** Returns the end of a run. Facts that the source does not have are undefined. */
export function runEnded(outcome: string, facts: EndFacts = {}): RunEnded {
  return { kind: 'run_ended', outcome, new_messages: [], ...present(facts) };
}
