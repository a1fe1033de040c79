import { callNumber } from '../../core/base/call-number.ts';
import { systemClock } from '../../core/base/clock.ts';
import { present } from '../../core/base/present.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import { runStory, storyFactsOf, type StorySentence } from '../../core/facts/run-story.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { StoryFold } from '../../core/facts/story-fold.ts';
import { pricesInForce } from './prices-in-force.ts';
import { CallPreviews, type CallPreview } from './call-previews.ts';
import { shownEvidence, stripOf, type RunDiagnostic, type RunReport } from './run-report.ts';

/** Maximum number of diagnostics per run. Further diagnostics are counted. */
const MAX_DIAGNOSTICS = 50;
const TASK_CHARS = 4_000;

export interface ReportFoldOptions {
  /** Includes hints. Hints are not recorded, so the patterns are recomputed. */
  readonly hints?: boolean;
  /** Recomputes patterns with the default detectors even if patterns are recorded. Default: false. */
  readonly recompute?: boolean;
  /** Name of the source. Default: the source in `run_started`. */
  readonly source?: string | undefined;
}

/**
 * Creates the report of a run from its records.
 *
 * Cost: like `RunView`. Memory is bounded.
 */
export class ReportFold {
  readonly view: RunView;
  readonly #id: string;
  readonly #options: ReportFoldOptions;
  readonly #previews = new CallPreviews();
  readonly #diagnostics: RunDiagnostic[] = [];
  #diagnosticsLeftOut = 0;
  readonly #story: StoryFold;

  constructor(id: string, options: ReportFoldOptions = {}) {
    const { hints = false, recompute = false } = options;
    this.#id = id;
    this.#options = options;
    this.view = new RunView({
      detectors: defaultDetectors(),
      recompute: recompute || hints,
      ...present({ prices: pricesInForce() }),
    });
    this.#story = new StoryFold(this.view);
  }

  /** Processes the next record. @returns the call that the record started or ended */
  fold(record: TrajectoryRecord): RunCall | undefined {
    const call = this.view.fold(record);
    const errorLine = call === undefined ? undefined : errorLineOf(call, record);
    this.#story.fold(call, errorLine);
    if (call !== undefined) {
      const { args, endSeq, number, startLost, tool } = call;
      if (endSeq === undefined || startLost) this.#previews.add(number - 1, tool, args);
      if (errorLine !== undefined) this.#previews.fail(number - 1, errorLine);
    }
    const { changedPatterns } = this.view;
    for (const pattern of changedPatterns) this.#previews.keep(shownEvidence(pattern));
    return call;
  }

  diagnose(diagnostic: RunDiagnostic): void {
    if (this.#diagnostics.length < MAX_DIAGNOSTICS) this.#diagnostics.push(diagnostic);
    else this.#diagnosticsLeftOut += 1;
  }

  /** @param nowMs  the time at which the state of a run without an end is judged */
  report(nowMs: number = systemClock.nowMs()): RunReport {
    const { counts, failures, flaggedPatterns, outcome, patterns: found, started } = this.view;
    const { calls, errors, lastAtMs, startedAtMs, turns } = counts;
    const patterns = this.#options.hints === true ? found.patterns.map(({ pattern }) => pattern) : flaggedPatterns;
    const task = started?.task;
    return {
      id: this.#id,
      source: this.#options.source ?? started?.source ?? '',
      format: started?.format ?? started?.host ?? 'coxswain',
      ...present({ task: task?.slice(0, TASK_CHARS).toWellFormed() }),
      calls,
      turns,
      errors,
      ...present({ refused: counts.refused, lostRecords: counts.lostRecords }),
      ...(startedAtMs > 0 ? { durationMs: lastAtMs - startedAtMs } : {}),
      ...present({ outcome }),
      verdict: this.view.verdictAt(nowMs),
      ...present({ modelId: started?.identity.model_id ?? counts.modelId, afterFlag: this.#story.wasted }),
      patternBasis: found.basis,
      usage: this.view.usage,
      patternCosts: this.#patternCosts(patterns),
      steered: started?.steering !== undefined,
      patterns,
      diagnostics: this.#allDiagnostics(),
      strip: stripOf(failures),
      previews: this.#previewsOf(patterns),
    };
  }

  #patternCosts(patterns: readonly TrajectoryPattern[]): ReadonlyMap<string, number> {
    const costs = patterns.map(({ identity }) => [identity, this.view.costOfPattern(identity)] as const);
    return new Map(costs.flatMap(([identity, cost]) => (cost === undefined ? [] : [[identity, cost] as const])));
  }

  /** The run in four sentences. */
  story(): readonly StorySentence[] {
    return runStory(storyFactsOf(this.view, this.#story));
  }

  #allDiagnostics(): readonly RunDiagnostic[] {
    const faults = this.view.detectorFaults.map(({ detector, callIndex, message }): RunDiagnostic => ({
      severity: 'error',
      message: `detector ${detector} failed at call ${callNumber(callIndex)} and was switched off: ${message}`,
    }));
    const leftOutCount = this.#diagnosticsLeftOut;
    const more: readonly RunDiagnostic[] =
      leftOutCount === 0 ? [] : [{ severity: 'note', message: `and ${leftOutCount} more` }];
    return [...this.#diagnostics, ...more, ...faults];
  }

  #previewsOf(patterns: readonly TrajectoryPattern[]): ReadonlyMap<number, CallPreview> {
    const previews = new Map<number, CallPreview>();
    for (const index of patterns.flatMap(shownEvidence)) {
      this.#previews.keep([index]);
      const preview = this.#previews.kept(index);
      if (preview !== undefined) previews.set(index, preview);
    }
    return previews;
  }
}
