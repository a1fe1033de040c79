import type { AnswerClass, PatternLevel, TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type { Sighting, StepContext } from './pattern-detector.ts';
import type { Step } from './step.ts';

/** A pattern appeared, rose to another level, or was cleared. */
export interface PatternChange {
  readonly type: 'noticed' | 'raised' | 'cleared';
  readonly pattern: TrajectoryPattern;
}

interface OpenPattern {
  readonly pattern: TrajectoryPattern;
  /** Steps since the last sighting: all except transparent ones, and those with something new. */
  readonly quiet: number;
  readonly progress: number;
}

/** The state of a `PatternBook` as JSON. */
export interface PatternBookSnapshot {
  readonly open: readonly OpenPattern[];
  readonly closed: readonly TrajectoryPattern[];
  readonly closedTotal: number;
}

const NO_CHANGES: readonly PatternChange[] = [];
const RANK: Readonly<Record<PatternLevel, number>> = { hint: 0, warn: 1, strong: 2 };
const MAX_EVIDENCE = 32;
/** Beyond it the oldest open pattern is closed. */
const MAX_OPEN = 64;
/** Steps with something new that clear a pattern. */
const PROGRESS_TO_CLEAR = 3;
/** Steps without a sighting that clear a pattern. */
const QUIET_TO_CLEAR = 12;

/**
 * Keeps the patterns of a run: joins sightings of one identity, only raises the level, and clears a pattern
 * when its detector ends it, after three successful steps with something new, or after twelve steps without a sighting.
 *
 * Cost: O(open patterns) per step; at most 64 open and 200 closed patterns.
 */
export class PatternBook {
  #open: Map<string, OpenPattern>;
  /** The last result of `open`, which is called several times per call and rarely changes. */
  #openList: readonly TrajectoryPattern[] | undefined;
  readonly #closed: TrajectoryPattern[];
  readonly #maxClosed: number;
  #closedTotal: number;

  /** @param maxClosed  cleared patterns kept for reading; their count stays exact */
  constructor(snapshot?: PatternBookSnapshot, maxClosed = 200) {
    this.#maxClosed = maxClosed;
    this.#open = new Map((snapshot?.open ?? []).map((open) => [open.pattern.identity, open]));
    this.#closed = (snapshot?.closed ?? []).slice(-maxClosed);
    this.#closedTotal = snapshot?.closedTotal ?? 0;
  }

  /** Adds the sightings of a step. */
  observe(step: Step, context: StepContext, sightings: readonly Sighting[]): readonly PatternChange[] {
    if (sightings.length === 0 && this.#open.size === 0) return NO_CHANGES;
    this.#openList = undefined;
    const changes: PatternChange[] = [];
    const seen = new Set<string>();
    for (const sighting of sightings) {
      const identity = `${sighting.kind}:${sighting.key}`;
      const open = this.#open.get(identity);
      if (sighting.over === true) {
        if (open !== undefined) changes.push(this.#close(identity, open, step));
        continue;
      }
      if (sighting.vague === true && this.#hasSpecific(sighting, sightings)) continue;
      seen.add(identity);
      const change = this.#see(identity, sighting, step);
      if (change !== undefined) changes.push(change);
    }
    if (!step.transparent && this.#open.size > seen.size) changes.push(...this.#age(step, context, seen));
    return changes;
  }

  /** Returns true if a more specific stuck pattern is flagged now or was within the last two steps. */
  #hasSpecific({ kind }: Sighting, sightings: readonly Sighting[]): boolean {
    const isSpecific = (other: Pick<Sighting, 'kind' | 'stuck' | 'level'>): boolean =>
      other.kind !== kind && other.stuck && other.level !== 'hint';
    if (sightings.some(isSpecific)) return true;
    for (const { pattern, quiet } of this.#open.values()) if (quiet < 2 && isSpecific(pattern)) return true;
    return false;
  }

  /** Open patterns, in the order in which they were noticed. */
  open(): readonly TrajectoryPattern[] {
    return (this.#openList ??= Array.from(this.#open.values(), (open) => open.pattern));
  }

  /** All patterns of the run by their first call; the last 200 of the cleared ones. */
  all(): readonly TrajectoryPattern[] {
    return [...this.#closed, ...this.open()].sort(
      (a, b) => a.firstSeen - b.firstSeen || (a.identity < b.identity ? -1 : 1),
    );
  }

  /** All cleared patterns, also those no longer kept. */
  get closedTotal(): number {
    return this.#closedTotal;
  }

  snapshot(): PatternBookSnapshot {
    return { open: [...this.#open.values()], closed: [...this.#closed], closedTotal: this.#closedTotal };
  }

  #see(identity: string, sighting: Sighting, step: Step): PatternChange | undefined {
    const before = this.#open.get(identity)?.pattern;
    const level = before !== undefined && RANK[before.level] > RANK[sighting.level] ? before.level : sighting.level;
    const evidence = sighting.evidence.slice(-MAX_EVIDENCE);
    const pattern: TrajectoryPattern = {
      kind: sighting.kind,
      identity,
      stuck: sighting.stuck,
      level,
      confidence: Math.max(before?.confidence ?? 0, sighting.confidence),
      ...(sighting.tool === undefined ? {} : aboutStep(sighting.tool, step)),
      evidence,
      firstSeen: before?.firstSeen ?? sighting.evidence[0] ?? step.index,
      flaggedAt: before?.flaggedAt ?? (level === 'hint' ? null : step.index),
      occurrences: Math.max(before?.occurrences ?? 0, sighting.occurrences),
    };
    this.#open.set(identity, { pattern, quiet: 0, progress: 0 });
    if (before === undefined) {
      this.#closeOldestBeyondLimit(step);
      return { type: 'noticed', pattern };
    }
    return before.level === level ? undefined : { type: 'raised', pattern };
  }

  #age(step: Step, context: StepContext, seen: ReadonlySet<string>): readonly PatternChange[] {
    const changes: PatternChange[] = [];
    const progressed = step.failure === undefined && !step.resultMissing && (context.novel || context.advanced) ? 1 : 0;
    for (const [identity, open] of this.#open) {
      if (seen.has(identity)) continue;
      const quiet = open.quiet + 1;
      const progress = open.progress + progressed;
      if (progress >= PROGRESS_TO_CLEAR || quiet >= QUIET_TO_CLEAR) changes.push(this.#close(identity, open, step));
      else this.#open.set(identity, { pattern: open.pattern, quiet, progress });
    }
    return changes;
  }

  #close(identity: string, open: OpenPattern, step: Step): PatternChange {
    const pattern = { ...open.pattern, clearedAt: step.index };
    this.#open.delete(identity);
    this.#closed.push(pattern);
    this.#closedTotal += 1;
    if (this.#closed.length > this.#maxClosed) this.#closed.shift();
    return { type: 'cleared', pattern };
  }

  #closeOldestBeyondLimit(step: Step): void {
    if (this.#open.size <= MAX_OPEN) return;
    const oldest = this.#open.entries().next();
    if (oldest.done !== true) this.#close(oldest.value[0], oldest.value[1], step);
  }
}

const SUBJECT_CHARS = 80;

/** The subject and the answer of a pattern; unknown if the detector names another tool than that of the step. */
function aboutStep(tool: string, step: Step): Pick<TrajectoryPattern, 'tool' | 'subject' | 'answer'> {
  if (tool !== step.tool) return { tool };
  const subject = step.program === tool ? step.target : step.program;
  const answer = answerOf(step);
  return { tool, ...(subject === undefined ? {} : { subject: subject.slice(-SUBJECT_CHARS) }), answer };
}

function answerOf({ failure, acknowledged, resultChars }: Step): AnswerClass {
  if (failure !== undefined) return failure.category;
  if (resultChars === 0) return 'empty';
  return acknowledged ? 'done' : 'content';
}
