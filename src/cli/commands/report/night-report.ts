import { RunTotals } from '../../runs/run-totals.ts';
import { BestMoments } from './moments.ts';
import { NO_ADVICE, tallied, type AdviceTally, type FoundRun, type Moment, type NightRun } from './night-run.ts';

/** Runs that are listed; of more only what they add up to. */
const MAX_LISTED = 200;
const MAX_MOMENTS = 5;
const MAX_SOURCES = 1_000;
const MAX_PROVIDERS = 64;
const MAX_FAULTS = 20;
const MAX_GROUPS = 1_000;
const OTHERS = '(others)';
const NOT_KNOWN = 'not known';

/** A moment, and the command that shows it. */
export interface ShownMoment extends Moment {
  readonly command: string;
}

/** What runs are grouped by. */
export const GROUPINGS = ['project', 'person', 'agent'] as const;
export type Grouping = (typeof GROUPINGS)[number];
const GROUPS_NAME = { project: 'projects', person: 'people', agent: 'agents' } as const;

/** What the runs of one project, person or agent come to. */
interface GroupTally {
  readonly count: number;
  /** Of them, those that failed, or died before they answered. */
  readonly died: number;
}

/** A project, person or agent, and its runs as far as they are listed. */
export interface ListedGroup extends GroupTally {
  /** A folder for a project. */
  readonly name: string;
  readonly runs: readonly NightRun[];
}

/** Where a report is from and of when. Plain JSON. */
export interface ReportFrame {
  /** What was read: a store or paths. */
  readonly from: string;
  /** Unix milliseconds; 0 for from the beginning. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Adds runs up to a report.
 *
 * Memory: 200 runs, and what they add up to, whatever their number.
 */
export class NightReport {
  readonly totals: RunTotals = new RunTotals();
  #runs: NightRun[] = [];
  readonly #groups = new Map<string, GroupTally>();
  readonly #by: Grouping;
  readonly #moments = new BestMoments(MAX_MOMENTS);
  readonly #advice = new Map<string, AdviceTally>();
  readonly #faults = new Map<string, number>();
  readonly #commandOf: (moment: Moment, source: string) => string;
  /** Where the runs of moments were read from. */
  readonly #sources = new Map<string, string>();
  #count = 0;
  #below = 0;
  #open = 0;
  #answered = 0;
  #worked = 0;
  #died = 0;
  #busyMs = 0;
  #tokens: number | undefined;
  #cacheTokens: number | undefined;
  #costUsd: number | undefined;

  /** @param commandOf  what shows a run */
  constructor(commandOf: (moment: Moment, source: string) => string, by: Grouping = 'project') {
    this.#commandOf = commandOf;
    this.#by = by;
  }

  add({ faults, moments, outcomes, report, run }: FoundRun): void {
    this.totals.add(report);
    this.#count += 1;
    if (run.parentId !== undefined) this.#below += 1;
    // The time of a subagent is within that of its run.
    else this.#busyMs += run.lastAtMs - run.startedAtMs;
    if (run.outcome === undefined) this.#open += 1;
    else if (run.verdict.verdict === 'failed') this.#died += 1;
    else this.#answered += 1;
    if (run.verdict.verdict === 'worked') this.#worked += 1;
    if (run.tokens !== undefined) this.#tokens = (this.#tokens ?? 0) + run.tokens;
    if (run.cacheTokens !== undefined) this.#cacheTokens = (this.#cacheTokens ?? 0) + run.cacheTokens;
    if (run.costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + run.costUsd;
    this.#list(run);
    this.#tally(run);
    this.#moments.add(moments);
    if (moments.length > 0) this.#sources.set(run.id, report.source);
    if (this.#sources.size > MAX_SOURCES) this.#forgetSources();
    for (const outcome of outcomes) {
      const name = nameIn(this.#advice, outcome.providerName, MAX_PROVIDERS);
      this.#advice.set(name, tallied(this.#advice.get(name) ?? NO_ADVICE, outcome));
    }
    for (const fault of faults) {
      const name = nameIn(this.#faults, fault, MAX_FAULTS);
      this.#faults.set(name, (this.#faults.get(name) ?? 0) + 1);
    }
  }

  get count(): number {
    return this.#count;
  }
  /** Of them, subagents. */
  get below(): number {
    return this.#below;
  }
  /** Of them, ended with an answer. */
  get answered(): number {
    return this.#answered;
  }
  /** Of them, those that worked, as far as their records say. */
  get worked(): number {
    return this.#worked;
  }
  /** Of them, those that failed, or died before they answered. */
  get died(): number {
    return this.#died;
  }
  /** Of them, without an end on record. */
  get open(): number {
    return this.#open;
  }
  /** Milliseconds from the first to the last record of each run that is no subagent, added up. */
  get busyMs(): number {
    return this.#busyMs;
  }
  get tokens(): number | undefined {
    return this.#tokens;
  }
  get cacheTokens(): number | undefined {
    return this.#cacheTokens;
  }
  get costUsd(): number | undefined {
    return this.#costUsd;
  }
  /** The 200 that were at work last, the latest first; runs without times come last. */
  get runs(): readonly NightRun[] {
    return this.#runs.toSorted((a, b) => b.lastAtMs - a.lastAtMs).slice(0, MAX_LISTED);
  }
  /** The listed runs, by project, person or agent, the one that was at work last first; undefined where no run has one. */
  get groups(): readonly ListedGroup[] | undefined {
    if (this.#groups.size === 0) return undefined;
    const listed = Map.groupBy(this.runs, (run) => run[this.#by] ?? NOT_KNOWN);
    return [...listed].map(([name, runs]) => {
      const { count, died } = this.#groups.get(name) ?? { count: runs.length, died: 0 };
      return { name, runs, count, died };
    });
  }
  /** The most worth a look first. */
  get moments(): readonly ShownMoment[] {
    return this.#moments.best.map((moment): ShownMoment => {
      const command = this.#commandOf(moment, this.#sources.get(moment.runId) ?? '');
      return Object.assign({}, moment, { command });
    });
  }
  /** By provider, the one that spoke most first. */
  get advice(): readonly (readonly [string, AdviceTally])[] {
    return [...this.#advice].toSorted(([a, left], [b, right]) => right.pieces - left.pieces || (a < b ? -1 : 1));
  }
  /** The most frequent first. */
  get faults(): readonly (readonly [string, number])[] {
    return [...this.#faults].toSorted(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
  }

  #list(run: NightRun): void {
    this.#runs.push(run);
    if (this.#runs.length >= 2 * MAX_LISTED) this.#runs = [...this.runs];
  }

  #tally(run: NightRun): void {
    const { verdict } = run;
    const group = run[this.#by] ?? (this.#by === 'project' ? undefined : NOT_KNOWN);
    if (group === undefined) return;
    const name = nameIn(this.#groups, group, MAX_GROUPS);
    const { count, died } = this.#groups.get(name) ?? { count: 0, died: 0 };
    this.#groups.set(name, { count: count + 1, died: died + (verdict.verdict === 'failed' ? 1 : 0) });
  }

  #forgetSources(): void {
    const kept = new Set(this.#moments.best.map(({ runId }) => runId));
    for (const runId of this.#sources.keys()) if (!kept.has(runId)) this.#sources.delete(runId);
  }

  /** All but the runs, as `--json` prints it. */
  toJson(frame: ReportFrame): unknown {
    return {
      ...frame,
      totals: {
        ...this.totals.toJson(),
        below: this.#below,
        open: this.#open,
        answered: this.#answered,
        worked: this.#worked,
        died: this.#died,
        busyMs: this.#busyMs,
        tokens: this.#tokens ?? null,
        cacheTokens: this.#cacheTokens ?? null,
        costUsd: this.#costUsd ?? null,
      },
      ...(this.#groups.size === 0
        ? {}
        : {
            [GROUPS_NAME[this.#by]]: [...this.#groups].map(([name, tally]) =>
              Object.assign({ [this.#by]: name }, tally),
            ),
          }),
      advice: this.advice.map(([provider, tally]) => ({ provider, ...tally })),
      faults: this.faults.map(([fault, count]) => ({ fault, count })),
      moments: this.moments,
    };
  }
}

function nameIn(map: ReadonlyMap<string, unknown>, name: string, most: number): string {
  return map.has(name) || map.size < most ? name : OTHERS;
}
