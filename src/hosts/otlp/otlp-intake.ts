import { existsSync } from 'node:fs';

import type { Clock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/error.ts';
import { stateFile, type StateOwner } from '../../core/node/state-places.ts';
import type { FoundSpans } from '../../formats/otlp/read-spans.ts';
import { OtlpInbox, type InboxLimits } from './otlp-inbox.ts';
import { recordTrace, type RecordedRun, type TraceTarget } from './record-trace.ts';

export interface OtlpIntakeOptions {
  readonly owner: StateOwner;
  readonly clock: Clock;
  /** Opens the project's store for one operation. */
  readonly withTarget: <Result>(work: (target: TraceTarget) => Promise<Result>) => Promise<Result>;
  /**
   * Called for every fault.
   *
   * @param unlessKnown  skips a repeated message
   */
  readonly onFault: (fault: { readonly where: string; readonly message: string }, unlessKnown?: boolean) => void;
  readonly onRecorded?: ((run: RecordedRun) => void) | undefined;
  /** Time without new spans after which an unfinished trace or session is recorded as cut off; default 30 minutes. */
  readonly pauseMs?: number | undefined;
  readonly limits?: InboxLimits | undefined;
}

/** Counts since the start of the process. Plain JSON. */
export interface OtlpFacts {
  /** Number of acknowledged spans and log events. */
  readonly spans: number;
  /** Number of spans whose trace was already recorded. */
  readonly late: number;
  /** Number of spans without ids or a time, and of spans of a trace over a limit. */
  readonly refused: number;
  /** Number of log records that belong to no agent. They are dropped. */
  readonly unread: number;
  readonly runs: number;
  readonly waitingTraces: number;
}

/** Default of `pauseMs`. */
export const DEFAULT_PAUSE_MS: number = 30 * 60_000;
/** Time without new spans after which an ended trace is recorded. Exporters wait less than this. */
const SETTLE_MS = 15_000;
const LOOK_MS = 1_000;

/** Moves spans from an acknowledged request through the inbox to the store. */
export class OtlpIntake {
  readonly #options: OtlpIntakeOptions;
  readonly #settleMs: number;
  readonly #pauseMs: number;
  readonly #counts = { spans: 0, late: 0, refused: 0, unread: 0, runs: 0 };
  #inbox: OtlpInbox | undefined;
  #looking: NodeJS.Timeout | undefined;
  #recording: Promise<void> = Promise.resolve();

  constructor(options: OtlpIntakeOptions) {
    this.#options = options;
    this.#pauseMs = options.pauseMs ?? DEFAULT_PAUSE_MS;
    this.#settleMs = Math.min(SETTLE_MS, this.#pauseMs);
  }

  get facts(): OtlpFacts {
    return { ...this.#counts, waitingTraces: this.#inbox?.waitingTraces ?? 0 };
  }

  /**
   * Stores the spans of a request. The spans are on disk when this method returns.
   *
   * @returns number of rejected spans
   * @throws CoxswainError see `OtlpInbox`
   */
  take({ spans, unusable, unread }: FoundSpans): { readonly refused: number } {
    const { accepted, late, refused } = this.open().add(spans, this.#options.clock.nowMs());
    this.#counts.spans += accepted;
    this.#counts.late += late;
    this.#counts.refused += refused + unusable;
    this.#counts.unread += unread;
    const say = (message: string): void => this.#options.onFault({ where: 'otlp', message }, true);
    if (late > 0) say('spans came after their trace was recorded: they form separate runs');
    if (refused > 0) say('spans of a trace over the limit were refused');
    if (unusable > 0) say('spans without ids or a time were refused');
    return { refused: refused + unusable };
  }

  /** Continues with traces that a previous process left waiting. Errors are logged as faults. */
  resume(): void {
    if (!existsSync(stateFile('otlpInbox', this.#options.owner))) return;
    try {
      if (this.open().waitingTraces === 0) this.#close();
    } catch (error) {
      this.#options.onFault({ where: 'otlp', message: messageOf(error) }, true);
    }
  }

  /**
   * Opens the inbox and starts recording ready traces.
   *
   * @throws CoxswainError see `OtlpInbox`
   */
  open(): OtlpInbox {
    this.#inbox ??= new OtlpInbox(this.#options.owner, this.#options.limits);
    this.#looking ??= setInterval(() => void this.record(), Math.min(LOOK_MS, this.#settleMs)).unref();
    return this.#inbox;
  }

  /**
   * Records the traces that are ready. Never rejects.
   *
   * @param endedOnly  records every ended trace now, without waiting for more spans
   */
  async record(endedOnly = false): Promise<void> {
    this.#recording = this.#recording.then(() => this.#recordDue(endedOnly));
    await this.#recording;
  }

  /**
   * Records the ended traces.
   *
   * @returns number of other traces, which wait for the next start
   */
  async stop(): Promise<number> {
    clearInterval(this.#looking);
    await this.record(true);
    const { waitingTraces } = this.facts;
    this.#close();
    return waitingTraces;
  }

  #close(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#inbox?.dispose();
    this.#inbox = undefined;
  }

  async #recordDue(endedOnly: boolean): Promise<void> {
    const { clock, onFault, onRecorded, withTarget } = this.#options;
    const inbox = this.#inbox;
    if (inbox === undefined) return;
    try {
      const nowMs = clock.nowMs();
      const quietMs = inbox.isCrowded ? this.#settleMs : this.#pauseMs;
      const due = endedOnly ? inbox.due(nowMs, -1) : inbox.due(nowMs - this.#settleMs, nowMs - quietMs);
      if (due.length === 0) return;
      await withTarget(async (target) => {
        for (const trace of due) {
          const runs = await recordTrace(trace, inbox.spansOf(trace.traceId), target);
          inbox.close(trace.traceId, clock.nowMs());
          this.#counts.runs += runs.length;
          for (const run of runs) onRecorded?.(run);
        }
      });
    } catch (error) {
      // The trace stays in the inbox, and the next round tries again.
      onFault({ where: 'otlp', message: messageOf(error) }, true);
    }
  }
}
