import { resolve } from 'node:path';

import { present } from '../../../base/present.ts';
import { CoxswainError } from '../../../base/error.ts';
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

/** Runs of one source that are analysed at a time. */
const MAX_OPEN = 1000;

/** What `analyzeSources` works with. */
export interface AnalyzeSetup {
  readonly problems: Problems;
  readonly progress: Progress;
  readonly output: ReportOutput;
  /** Records the runs too. */
  readonly recorder?: RunRecorder | undefined;
  readonly format?: FormatName | undefined;
  readonly hints: boolean;
  /** Patterns on record are passed over, and found again by the default detectors. */
  readonly recompute: boolean;
  /** Notes of the importers are said too, not errors only. */
  readonly verbose: boolean;
  /** What a source is called in reports and records; default the path as given, and resolved in records. */
  readonly nameSource?: (path: string) => string;
}

/**
 * Reads every run of these sources, and gives each report to the output as soon as its
 * run is over. What cannot be read is a problem, and the rest is read all the same.
 *
 * @throws CoxswainError `store-io` when the recorder's store refuses altogether
 * Memory: what the importers hold, and about 20 kB a run that is open, of which there are 1,000 at most.
 */
export async function analyzeSources(sources: AsyncIterable<FoundSource>, setup: AnalyzeSetup): Promise<void> {
  const ids = new RunIds();
  for await (const found of sources) {
    // A pipe or device met in a folder would be waited for.
    if (!found.named && found.sizeBytes === undefined) continue;
    setup.problems.source(found.path);
    setup.progress.source(found.path);
    await new SourceAnalysis(found, ids, setup).run();
    setup.problems.endSource();
  }
}

class SourceAnalysis {
  readonly #found: FoundSource;
  readonly #ids: RunIds;
  readonly #setup: AnalyzeSetup;
  readonly #name: string;
  /** The runs that are open, the one whose last record is the oldest first. */
  readonly #folds = new Map<ReadRun, ReportFold>();
  /** Runs that were reported before their end, to make room; true once more came of them. */
  readonly #reported = new Map<ReadRun, boolean>();
  #last: ReadRun | undefined;

  constructor(found: FoundSource, ids: RunIds, setup: AnalyzeSetup) {
    this.#found = found;
    this.#ids = ids;
    this.#setup = setup;
    this.#name = setup.nameSource?.(found.path) ?? found.path;
  }

  async run(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      const code = error instanceof CoxswainError ? error.code : undefined;
      if (code === 'store-io' || code === 'store-closed') throw error;
      // What is met in a folder and is no trajectory is nobody's problem.
      if (code !== 'format-unknown' || this.#found.named) this.#setup.problems.failure(error);
    }
  }

  async #read(): Promise<void> {
    const { format, progress, recorder } = this.#setup;
    const { path } = this.#found;
    const onBytes = progress.bytes.bind(progress);
    const items = importSource(path, { format, onBytes });
    for await (const item of readRuns(items, { source: this.#storedName(), ids: this.#ids })) {
      switch (item.type) {
        case 'record': {
          if (item.run !== this.#last) await this.#turnTo(item.run);
          this.#folds.get(item.run)?.fold(item.record);
          if (recorder !== undefined) await recorder.add(item.run.id, item.record);
          break;
        }
        case 'end':
          await this.#end(item.run);
          break;
        case 'diagnostic':
          this.#diagnose(item.diagnostic, item.run);
      }
    }
  }

  #storedName(): string {
    if (this.#setup.nameSource !== undefined || this.#found.path === '-') return this.#name;
    return resolve(this.#found.path);
  }

  /** Makes this run the last one touched, and room for it where it is new. */
  async #turnTo(run: ReadRun): Promise<void> {
    this.#last = run;
    const fold = this.#folds.get(run);
    if (fold !== undefined) {
      this.#folds.delete(run);
      this.#folds.set(run, fold);
    } else if (!this.#reported.has(run)) {
      const { hints, recompute } = this.#setup;
      this.#folds.set(run, new ReportFold(run.id, { hints, recompute, source: this.#name }));
      await this.#makeRoom();
    } else if (this.#reported.get(run) === false) {
      this.#reported.set(run, true);
      const message = `run ${run.id} goes on after ${MAX_OPEN} other runs; the report covers what came before`;
      this.#setup.problems.fault({ message });
    }
  }

  async #makeRoom(): Promise<void> {
    if (this.#folds.size <= MAX_OPEN) return;
    const oldest = this.#folds.keys().next();
    if (oldest.done === true) return;
    this.#reported.set(oldest.value, false);
    await this.#report(oldest.value);
  }

  async #end(run: ReadRun): Promise<void> {
    this.#last = undefined;
    await this.#setup.recorder?.end(run.id);
    await this.#report(run);
  }

  async #report(run: ReadRun): Promise<void> {
    const fold = this.#folds.get(run);
    if (fold === undefined) return;
    this.#folds.delete(run);
    this.#setup.progress.run();
    await this.#setup.output.add(fold.report());
  }

  /** What belongs to no run by name belongs to the one that is just being read. */
  #diagnose({ severity, message, line }: RunDiagnostic, run: ReadRun | undefined): void {
    const { problems, verbose } = this.#setup;
    const problem = { line, message };
    if (severity === 'error') problems.fault(problem);
    else if (verbose) problems.note(problem);
    const owner = run ?? this.#last;
    const fold = owner === undefined ? undefined : this.#folds.get(owner);
    fold?.diagnose({ severity, message, ...present({ line }) });
  }
}
