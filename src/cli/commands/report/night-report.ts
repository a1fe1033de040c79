import { CACHE_TOKENS } from '../../../core/facts/usage-fold.ts';
import { isSideRun } from '../../runs/run-blocks.ts';
import { RunTotals } from '../../runs/run-totals.ts';
import { isNeed, projectBlocks, sectionsOf, type NightSection, type ProjectBlock } from './night-sections.ts';
import { hasFailed } from '../../../core/facts/run-verdict.ts';
import type { InstructionFile } from '../../../core/facts/instruction-lines.ts';
import { LessonsFold, type LessonExample, type Lessons } from '../../../core/facts/lessons.ts';
import { BestMoments } from '../../../core/facts/moments.ts';
import type { Moment } from '../../../core/facts/run-facts.ts';
import { NO_ADVICE, tallied, type AdviceTally, type RunFacts } from '../../../core/facts/run-facts.ts';
import { allTokens, hasNoPrice } from '../../../core/facts/usage-text.ts';

const MAX_LISTED = 5_000;
const MAX_MOMENTS = 5;
const MAX_SOURCES = 1_000;
const MAX_PROVIDERS = 64;
const MAX_FAULTS = 20;
const MAX_GROUPS = 1_000;
const OTHERS = '(others)';
const NOT_KNOWN = 'not known';

type InstructionsOf = (project: string) => readonly InstructionFile[] | undefined;

export interface ShownMoment extends Moment {
  readonly command: string;
}

export const GROUPINGS = ['project', 'person', 'agent'] as const;
export type Grouping = (typeof GROUPINGS)[number];
const GROUPS_NAME = { project: 'projects', person: 'people', agent: 'agents' } as const;

interface GroupTally {
  readonly count: number;
  readonly died: number;
}

export interface ListedGroup extends GroupTally {
  readonly name: string;
  readonly runs: readonly RunFacts[];
}

export interface ReportFrame {
  readonly from: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** True if the end of the time is not now. */
  readonly isPast?: boolean;
}

const SUMMED = ['lostRecords', 'tokens', ...CACHE_TOKENS, 'costUsd'] as const;

interface ReportSums {
  count: number;
  below: number;
  /** Those of `below` that are no subagents. */
  side: number;
  open: number;
  answered: number;
  worked: number;
  /** Number of runs that failed, or ended or were cut off before they gave an answer. */
  died: number;
  /** Sum of the active time of all runs except subagents, in milliseconds. */
  activeMs: number;
  withoutPrice: number;
  /** Number of runs with answers whose output tokens were counted before their end. */
  countedEarly: number;
  lostRecords?: number;
  tokens?: number;
  cacheTokens?: number;
  cacheTokensWithin?: number;
  cacheWriteTokens?: number;
  costUsd?: number;
}

/** Memory: 5,000 runs and bounded totals, for any number of runs. */
export class NightReport {
  readonly totals: RunTotals = new RunTotals();
  #runs: RunFacts[] = [];
  #sections: readonly NightSection[] | undefined;
  #projects: readonly ProjectBlock[] | undefined;
  readonly #groups = new Map<string, GroupTally>();
  readonly grouping: Grouping;
  readonly numbers: ReadonlyMap<string, number>;
  readonly #lessons = new LessonsFold();
  #keepsFailing: Lessons | undefined;
  readonly #instructionsOf: InstructionsOf;
  readonly #moments = new BestMoments(MAX_MOMENTS);
  readonly #advice = new Map<string, AdviceTally>();
  readonly #faults = new Map<string, number>();
  readonly #unpriced = new Set<string>();
  readonly #commandOf: (moment: Moment, source: string) => string;
  readonly #sources = new Map<string, string>();
  readonly #sums: ReportSums = {
    count: 0,
    below: 0,
    side: 0,
    open: 0,
    answered: 0,
    worked: 0,
    died: 0,
    activeMs: 0,
    withoutPrice: 0,
    countedEarly: 0,
  };

  /**
   * @param instructionsOf  returns the instruction files of a project folder, if they can be looked at
   * @param numbers  numbers that runs have already, by id
   */
  constructor(
    commandOf: (moment: Moment, source: string) => string,
    grouping: Grouping = 'project',
    instructionsOf: InstructionsOf = () => undefined,
    numbers: ReadonlyMap<string, number> = new Map(),
  ) {
    this.numbers = numbers;
    this.#instructionsOf = instructionsOf;
    this.#commandOf = commandOf;
    this.grouping = grouping;
  }

  add(run: RunFacts): void {
    const { adviceTexts, faultTexts, moments } = run;
    this.#sections = undefined;
    this.#projects = undefined;
    this.#keepsFailing = undefined;
    this.totals.add(run);
    this.#addSums(run);
    this.#lessons.add(run);
    this.#runs.push({
      ...run,
      adviceTexts: [],
      failures: [],
      instructions: [],
      keys: [],
      diagnostics: [],
      faultTexts: [],
      previews: {},
    });
    if (this.#runs.length >= 2 * MAX_LISTED) this.#runs = [...this.runs];
    this.#tallyRun(run);
    this.#moments.add(moments);
    if (moments.length > 0) this.#sources.set(run.id, run.source);
    if (this.#sources.size > MAX_SOURCES) this.#dropSources();
    for (const outcome of adviceTexts) {
      const name = nameIn(this.#advice, outcome.providerName, MAX_PROVIDERS);
      this.#advice.set(name, tallied(this.#advice.get(name) ?? NO_ADVICE, outcome));
    }
    for (const fault of faultTexts) {
      const name = nameIn(this.#faults, fault, MAX_FAULTS);
      this.#faults.set(name, (this.#faults.get(name) ?? 0) + 1);
    }
  }

  /** For a report that has only what keeps failing. */
  addFailures(run: RunFacts): void {
    this.#keepsFailing = undefined;
    this.#sums.count += 1;
    this.#lessons.add(run);
  }

  get sums(): Readonly<ReportSums> {
    return this.#sums;
  }
  /** The models of runs with answers of unknown cost. */
  get unpricedModels(): readonly string[] {
    return [...this.#unpriced];
  }
  /** The 5,000 most recently active runs, the latest first. Runs without times are last. */
  get runs(): readonly RunFacts[] {
    return this.#runs.toSorted((a, b) => b.lastAtMs - a.lastAtMs).slice(0, MAX_LISTED);
  }
  get sections(): readonly NightSection[] {
    this.#sections ??= sectionsOf(this.runs, this.numbers);
    return this.#sections;
  }
  get projects(): readonly ProjectBlock[] {
    this.#projects ??= projectBlocks(this.runs);
    return this.#projects;
  }
  get groups(): readonly ListedGroup[] | undefined {
    if (this.#groups.size === 0) return undefined;
    const runsByGroup = Map.groupBy(this.runs, (run) => run[this.grouping] ?? NOT_KNOWN);
    return [...runsByGroup].map(([name, runs]) => {
      const { count, died } = this.#groups.get(name) ?? { count: runs.length, died: 0 };
      return { name, runs, count, died };
    });
  }
  get moments(): readonly ShownMoment[] {
    return this.#moments.best.map((moment): ShownMoment => {
      const command = this.#commandOf(moment, this.#sources.get(moment.runId) ?? '');
      return Object.assign({}, moment, { command });
    });
  }
  get keepsFailing(): Lessons {
    this.#keepsFailing ??= this.#lessons.lessons(this.#instructionsOf);
    return this.#keepsFailing;
  }
  commandOf({ number, runId, source }: LessonExample): string {
    return this.#commandOf({ runId, call: number, score: 0, type: '', what: '' }, source);
  }

  get advice(): readonly (readonly [string, AdviceTally])[] {
    return [...this.#advice].toSorted(([a, left], [b, right]) => right.pieces - left.pieces || (a < b ? -1 : 1));
  }
  get faults(): readonly (readonly [string, number])[] {
    return [...this.#faults].toSorted(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
  }

  #addSums(run: RunFacts): void {
    const sums = this.#sums;
    const { verdict } = run.verdict;
    sums.count += 1;
    const isSide = isSideRun(run);
    if (isSide) sums.side += 1;
    if (run.parentId !== undefined) sums.below += 1;
    // The time of a subagent is included in the time of its parent.
    else sums.activeMs += run.activeMs;
    if (hasNoPrice(run) && !isSide) {
      sums.withoutPrice += 1;
      if (run.modelId !== undefined) this.#unpriced.add(run.modelId);
    }
    if (run.answersCountedEarly !== undefined) sums.countedEarly += 1;
    if (hasFailed(verdict)) sums.died += 1;
    else if (verdict === 'worked' || verdict === 'answered') sums.answered += 1;
    else sums.open += 1;
    if (verdict === 'worked') sums.worked += 1;
    for (const name of SUMMED) {
      const value = run[name];
      if (value !== undefined) sums[name] = (sums[name] ?? 0) + value;
    }
  }

  #tallyRun(run: RunFacts): void {
    const { verdict } = run;
    const group = run[this.grouping] ?? (this.grouping === 'project' ? undefined : NOT_KNOWN);
    if (group === undefined) return;
    const name = nameIn(this.#groups, group, MAX_GROUPS);
    const { count, died } = this.#groups.get(name) ?? { count: 0, died: 0 };
    this.#groups.set(name, { count: count + 1, died: died + (hasFailed(verdict.verdict) ? 1 : 0) });
  }

  #dropSources(): void {
    const inUse = new Set(this.#moments.best.map(({ runId }) => runId));
    for (const runId of this.#sources.keys()) if (!inUse.has(runId)) this.#sources.delete(runId);
  }

  /** @param needsOnly  true for only the sections that need the person; the totals are those of all runs */
  toJson(frame: ReportFrame, needsOnly = false): object {
    const { count: _count, tokens = null, cacheTokens = null, costUsd = null, ...sums } = this.#sums;
    return {
      ...frame,
      totals: {
        ...this.totals.toJson(),
        ...sums,
        tokens,
        allTokens: allTokens(this.#sums) ?? null,
        cacheTokens,
        costUsd,
      },
      ...(this.#groups.size === 0
        ? {}
        : {
            [GROUPS_NAME[this.grouping]]: [...this.#groups].map(([name, tally]) =>
              Object.assign({ [this.grouping]: name }, tally),
            ),
          }),
      sections: (needsOnly ? this.sections.filter(isNeed) : this.sections).map(({ items, name }) => ({
        name,
        items: items.map(({ run, ...item }) => Object.assign(item, { runId: run.id })),
      })),
      projectBlocks: this.projects,
      advice: this.advice.map(([provider, tally]) => ({ provider, ...tally })),
      faults: this.faults.map(([fault, count]) => ({ fault, count })),
      moments: this.moments,
    };
  }
}

function nameIn(map: ReadonlyMap<string, unknown>, name: string, most: number): string {
  return map.has(name) || map.size < most ? name : OTHERS;
}
