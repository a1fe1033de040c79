import { existsSync } from 'node:fs';

import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error.ts';
import { stateFile, type StateOwner } from '../../base/state-places.ts';
import type { FoundSpans } from '../../formats/otlp/read-spans.ts';
import { OtlpInbox, type InboxLimits } from './otlp-inbox.ts';
import { recordTrace, type RecordedRun, type TraceTarget } from './record-trace.ts';

/** How spans are taken. */
export interface OtlpIntakeOptions {
  readonly owner: StateOwner;
  readonly clock: Clock;
  /** Opens the store of the project while it is used. */
  readonly withTarget: <Result>(work: (target: TraceTarget) => Promise<Result>) => Promise<Result>;
  /** @param unlessKnown  leaves out what was said just before */
  readonly onFault: (fault: { readonly where: string; readonly message: string }, unlessKnown?: boolean) => void;
  readonly onRecorded?: ((run: RecordedRun) => void) | undefined;
  /** How long nothing of a trace came whose first span never ended, or of a session, until it is recorded as cut off; default 30 minutes. */
  readonly pauseMs?: number | undefined;
  /** How long nothing of a trace came that has ended, until it is recorded: longer than exporters wait; default 15 seconds. */
  readonly settleMs?: number | undefined;
  readonly limits?: InboxLimits | undefined;
}

/** What came in since the start. Plain JSON. */
export interface OtlpFacts {
  /** Spans and log events that were acknowledged. */
  readonly spans: number;
  /** Of traces that were recorded already. */
  readonly late: number;
  /** Spans without ids or time, and those of traces over a limit. */
  readonly refused: number;
  /** Log records of no agent, which are not kept. */
  readonly unread: number;
  readonly runs: number;
  readonly waitingTraces: number;
}

/** Default of `pauseMs`. */
export const DEFAULT_PAUSE_MS: number = 30 * 60_000;
const DEFAULT_SETTLE_MS = 15_000;
const LOOK_MS = 1_000;

/** What becomes of spans between their acknowledgement and the store. */
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
    this.#settleMs = Math.min(options.settleMs ?? DEFAULT_SETTLE_MS, this.#pauseMs);
  }

  get facts(): OtlpFacts {
    return { ...this.#counts, waitingTraces: this.#inbox?.waitingTraces ?? 0 };
  }

  /**
   * Keeps the spans of a request. They are on disk when it returns.
   *
   * @returns how many were not kept
   * @throws CoxswainError as `OtlpInbox`
   */
  take({ spans, unusable, unread }: FoundSpans): { readonly refused: number } {
    const { taken, late, refused } = this.open().add(spans, this.#options.clock.nowMs());
    this.#counts.spans += taken;
    this.#counts.late += late;
    this.#counts.refused += refused + unusable;
    this.#counts.unread += unread;
    const say = (message: string): void => this.#options.onFault({ where: 'otlp', message }, true);
    if (late > 0) say('spans came after their trace was recorded: they are runs of their own');
    if (refused > 0) say('spans of a trace over the limit were refused');
    if (unusable > 0) say('spans without ids or a time were refused');
    return { refused: refused + unusable };
  }

  /** Goes on with what another process left, if there is any. What is wrong is a fault. */
  resume(): void {
    if (!existsSync(stateFile('otlpInbox', this.#options.owner))) return;
    try {
      if (this.open().waitingTraces === 0) this.#close();
    } catch (error) {
      this.#options.onFault({ where: 'otlp', message: messageOf(error) }, true);
    }
  }

  /** Opens what waits, and records from then on what is due. @throws CoxswainError as `OtlpInbox` */
  open(): OtlpInbox {
    this.#inbox ??= new OtlpInbox(this.#options.owner, this.#options.limits);
    this.#looking ??= setInterval(() => void this.record(), Math.min(LOOK_MS, this.#settleMs)).unref();
    return this.#inbox;
  }

  /** Records what is due. @param endedOnly  every trace that has ended, without waiting for more. Never rejects. */
  async record(endedOnly = false): Promise<void> {
    this.#recording = this.#recording.then(() => this.#recordDue(endedOnly));
    await this.#recording;
  }

  /** Records the traces that have ended. @returns how many others wait for the next start */
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
      const due = endedOnly ? inbox.due(nowMs, -1) : inbox.due(nowMs - this.#settleMs, nowMs - this.#pauseMs);
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
      // It stays where it is; the next look tries again.
      onFault({ where: 'otlp', message: messageOf(error) }, true);
    }
  }
}
