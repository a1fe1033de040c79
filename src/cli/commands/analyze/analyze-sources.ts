import { resolve } from 'node:path';

import { present } from '../../../core/base/present.ts';
import { CoxswainError } from '../../../core/base/error.ts';
import type { FoundSource } from '../../../formats/find-sources.ts';
import type { FormatName } from '../../../formats/import-item.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns, type ReadRun } from '../../../formats/read-runs.ts';
import { RunIds } from '../../../formats/run-ids.ts';
import type { Problems } from '../../runs/problems.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { ReportOutput } from './report-output.ts';
import { ReportFold } from '../../runs/report-fold.ts';
import type { RunRecorder } from '../../runs/run-recorder.ts';
import type { RunDiagnostic } from '../../runs/run-report.ts';
import { secretRemover } from '../../runs/shown-records.ts';

/** Maximum number of runs of one source that are analysed at the same time. */
const MAX_OPEN = 1000;

export interface AnalyzeSetup {
  readonly problems: Problems;
  readonly progress: Progress;
  readonly output: ReportOutput;
  /** Also records the runs with this recorder. Default: runs are not recorded. */
  readonly recorder?: RunRecorder | undefined;
  readonly format?: FormatName | undefined;
  readonly hints: boolean;
  /** True: ignores recorded patterns and runs the default detectors. */
  readonly recompute: boolean;
  /** True: reports notes of the importers in addition to errors. */
  readonly verbose: boolean;
}

/**
 * Reads every run of these sources and passes a report to the output when a run ends. An unreadable source is reported as a
 * problem, and reading continues with the next source.
 *
 * @returns the number of runs with the id of an earlier run
 * @throws CoxswainError `store-io` when the recorder's store fails
 * Memory: the memory of the importers, and about 20 kB for each of at most 1,000 open runs.
 */
export async function analyzeSources(sources: AsyncIterable<FoundSource>, setup: AnalyzeSetup): Promise<number> {
  const ids = new RunIds();
  for await (const found of sources) {
    // Skips pipes and devices in a folder, because reading them may never end.
    if (!found.named && found.sizeBytes === undefined) continue;
    setup.problems.source(found.path);
    setup.progress.source(found.path);
    await new SourceAnalysis(found, ids, setup).run();
    setup.problems.endSource();
  }
  return ids.repeated;
}

class SourceAnalysis {
  readonly #found: FoundSource;
  readonly #ids: RunIds;
  readonly #setup: AnalyzeSetup;
  /** Open runs, ordered by their last change, oldest first. */
  readonly #folds = new Map<ReadRun, ReportFold>();
  /** Runs that were reported before their end to free memory. The value is true if a later record was lost. */
  readonly #reported = new Map<ReadRun, boolean>();
  readonly #withoutSecrets = secretRemover();
  #last: ReadRun | undefined;

  constructor(found: FoundSource, ids: RunIds, setup: AnalyzeSetup) {
    this.#found = found;
    this.#ids = ids;
    this.#setup = setup;
  }

  async run(): Promise<void> {
    try {
      await this.#readSource();
    } catch (error) {
      const code = error instanceof CoxswainError ? error.code : undefined;
      if (code === 'store-io' || code === 'store-closed') throw error;
      // A file in a folder may have a format that is not a trajectory.
      if (code !== 'format-unknown' || this.#found.named) this.#setup.problems.failure(error);
      else this.#setup.problems.leaveOut(error, this.#setup.verbose);
    }
  }

  async #readSource(): Promise<void> {
    const { format, progress, recorder } = this.#setup;
    const { path } = this.#found;
    const onBytes = progress.bytes.bind(progress);
    const source = path === '-' ? path : resolve(path);
    for await (const item of readRuns(importSource(path, { format, onBytes }), { source, ids: this.#ids })) {
      switch (item.type) {
        case 'record': {
          if (item.run !== this.#last) await this.#switchTo(item.run);
          this.#folds.get(item.run)?.fold(this.#withoutSecrets(item.record));
          if (recorder !== undefined) await recorder.add(item.run.id, item.record);
          break;
        }
        case 'end':
          await this.#endRun(item.run);
          break;
        case 'diagnostic':
          this.#reportDiagnostic(item.diagnostic, item.run);
      }
    }
  }

  /** Marks a run as the most recently changed run. Frees memory for a new run. */
  async #switchTo(run: ReadRun): Promise<void> {
    this.#last = run;
    const fold = this.#folds.get(run);
    if (fold !== undefined) {
      this.#folds.delete(run);
      this.#folds.set(run, fold);
    } else if (!this.#reported.has(run)) {
      const { hints, recompute } = this.#setup;
      this.#folds.set(run, new ReportFold(run.id, { hints, recompute, source: this.#found.path }));
      await this.#makeRoom();
    } else if (this.#reported.get(run) === false) {
      this.#reported.set(run, true);
      const message = `run ${run.id} continues after ${MAX_OPEN} other runs; its report covers only the records before them`;
      this.#setup.problems.fault({ message });
    }
  }

  async #makeRoom(): Promise<void> {
    if (this.#folds.size <= MAX_OPEN) return;
    const oldest = this.#folds.keys().next();
    if (oldest.done === true) return;
    this.#reported.set(oldest.value, false);
    await this.#reportRun(oldest.value);
  }

  async #endRun(run: ReadRun): Promise<void> {
    this.#last = undefined;
    await this.#setup.recorder?.end(run.id);
    await this.#reportRun(run);
  }

  async #reportRun(run: ReadRun): Promise<void> {
    const fold = this.#folds.get(run);
    if (fold === undefined) return;
    this.#folds.delete(run);
    this.#setup.progress.run();
    await this.#setup.output.add(fold.report());
  }

  /** Reports a diagnostic. A diagnostic without a run belongs to the current run. */
  #reportDiagnostic({ severity, message, line }: RunDiagnostic, run: ReadRun | undefined): void {
    const { problems, verbose } = this.#setup;
    const problem = { line, message };
    if (severity === 'error') problems.fault(problem);
    else if (verbose) problems.note(problem);
    const owner = run ?? this.#last;
    const fold = owner === undefined ? undefined : this.#folds.get(owner);
    fold?.diagnose({ severity, message, ...present({ line }) });
  }
}
