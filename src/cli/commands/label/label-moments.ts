import { runItems, type OnReadProblem } from '../../../backtest/run-items.ts';
import { hashText } from '../../../base/hash.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { SteeringReplay } from '../../../replay/steering-replay.ts';
import { RunView } from '../../../run-view/run-view.ts';
import { callEventOf } from '../../runs/call-event.ts';
import { secretRemover } from '../../runs/shown-records.ts';
import type { CallEvent } from '../../runs/live-event.ts';

/**
 * - `patterns`: calls at which a pattern was flagged
 * - `advice`: calls at which the standard steering would have given advice
 * - `random`: a pseudo-random sample of all calls, always the same for a run
 */
export const MOMENT_SOURCES = ['patterns', 'advice', 'random'] as const;

/** A moment of a run to label. Contains untrusted text: pass it through `printable` before showing it. */
export interface LabelMoment {
  /** `RUN@CALL`, with call numbers from 1. */
  readonly id: string;
  readonly run: string;
  /** Index of the call, from 0. */
  readonly call: number;
  readonly calls: number;
  readonly task: string;
  /** The calls before and after this call, in order. */
  readonly around: readonly CallEvent[];
}

export interface MomentOptions {
  readonly from: (typeof MOMENT_SOURCES)[number];
  /** Maximum number of moments per run. */
  readonly count: number;
  readonly onProblem: OnReadProblem;
}

const CALLS_BEFORE = 7;
const CALLS_AFTER = 3;
/** Maximum number of calls kept per run, about 400 bytes each. */
const MAX_CALLS = 5_000;

/**
 * Yields the moments of the runs at these paths, run by run, in the order of their calls.
 *
 * @throws CoxswainError the errors of opening and listing a store
 * Memory: previews of the first 5,000 calls of each open run.
 */
export async function* labelMoments(
  paths: readonly string[],
  options: MomentOptions,
): AsyncGenerator<LabelMoment, void, void> {
  const open = new Map<string, RunMoments>();
  const withoutSecrets = secretRemover();
  for await (const item of runItems(paths, options.onProblem)) {
    let moments = open.get(item.run);
    if (item.type === 'record') {
      if (moments === undefined) open.set(item.run, (moments = new RunMoments(item.run, options)));
      moments.take(withoutSecrets(item.record));
    } else if (moments !== undefined) {
      open.delete(item.run);
      yield* moments.found();
    }
  }
}

class RunMoments {
  readonly #run: string;
  readonly #options: MomentOptions;
  readonly #replay = new SteeringReplay();
  readonly #view = new RunView();
  readonly #calls: CallEvent[] = [];
  readonly #markedCalls = new Set<number>();

  constructor(run: string, options: MomentOptions) {
    this.#run = run;
    this.#options = options;
  }

  take(record: TrajectoryRecord): void {
    const { from } = this.#options;
    const derivedPayloads = this.#replay.follow(record);
    const call = callEventOf(this.#view.fold(record), record);
    if (call !== undefined && this.#calls.length < MAX_CALLS) this.#calls.push(call);
    if (from === 'random') return;
    for (const { kind } of derivedPayloads) {
      const matches =
        from === 'patterns' ? kind === 'pattern_flagged' : kind === 'feedback_produced' || kind === 'guidance_produced';
      if (matches) this.#markedCalls.add(Math.max(0, this.#view.calls - 1));
    }
  }

  found(): readonly LabelMoment[] {
    const { calls, started } = this.#view;
    const task = started?.task ?? '';
    return this.#chosenCalls().flatMap((call) => {
      const callPosition = this.#calls.findIndex(({ index }) => index === call);
      if (callPosition < 0) return [];
      const callsAround = this.#calls.slice(Math.max(0, callPosition - CALLS_BEFORE), callPosition + CALLS_AFTER + 1);
      return [{ id: `${this.#run}@${call + 1}`, run: this.#run, call, calls, task, around: callsAround }];
    });
  }

  #chosenCalls(): readonly number[] {
    const { count, from } = this.#options;
    if (from !== 'random') return [...this.#markedCalls].slice(0, count);
    const shuffledCalls = this.#calls.map(({ index }) => ({ index, hash: hashText(`${this.#run}@${index}`) }));
    shuffledCalls.sort((left, right) => (left.hash < right.hash ? -1 : 1));
    return shuffledCalls
      .slice(0, count)
      .map(({ index }) => index)
      .sort((left, right) => left - right);
  }
}
