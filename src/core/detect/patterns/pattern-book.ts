import { present } from '../../base/json.ts';
import { type AnswerClass, LEVEL_RANK, type TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { Sighting, StepContext } from './pattern-detector.ts';
import type { Step } from './step.ts';

/** A pattern was opened, its level was raised, or it was cleared. */
export interface PatternChange {
  readonly type: 'noticed' | 'raised' | 'cleared';
  readonly pattern: TrajectoryPattern;
}

interface OpenPattern {
  readonly pattern: TrajectoryPattern;
  /** Number of non-transparent steps since the last sighting. */
  readonly quiet: number;
  /** Number of successful steps with new information since the last sighting. */
  readonly progress: number;
}

/** The state of a `PatternBook` as JSON. */
export interface PatternBookSnapshot {
  readonly open: readonly OpenPattern[];
  readonly closed: readonly TrajectoryPattern[];
  /** Indices of the last refused calls. */
  readonly refused?: readonly number[];
}

type Place = Pick<Step, 'index'>;

const NO_CHANGES: readonly PatternChange[] = [];
const MAX_EVIDENCE = 32;
const MAX_OPEN = 64;
const MAX_REFUSED = 64;
const PROGRESS_TO_CLEAR = 3;
const QUIET_TO_CLEAR = 12;

/**
 * Sightings with the same identity are one pattern, whose level never falls. It is cleared when its detector ends it,
 * after three successful steps with new information, or after twelve steps without a sighting. Memory: at most 64 open
 * and 200 closed patterns.
 */
export class PatternBook {
  #open: Map<string, OpenPattern>;
  /** The cached result of `open`, which is called several times per call and rarely changes. */
  #openList: readonly TrajectoryPattern[] | undefined;
  readonly #closed: TrajectoryPattern[];
  readonly #maxClosed: number;
  readonly #refused: number[];

  constructor(snapshot?: PatternBookSnapshot, maxClosed = 200) {
    this.#maxClosed = maxClosed;
    this.#open = new Map((snapshot?.open ?? []).map((open) => [open.pattern.identity, open]));
    this.#closed = (snapshot?.closed ?? []).slice(-maxClosed);
    this.#refused = [...(snapshot?.refused ?? [])];
  }

  observe(step: Step, context: StepContext, sightings: readonly Sighting[]): readonly PatternChange[] {
    if (step.outcome === 'refused' && this.#refused.push(step.index) > MAX_REFUSED) this.#refused.shift();
    if (sightings.length === 0 && this.#open.size === 0) return NO_CHANGES;
    this.#openList = undefined;
    const changes: PatternChange[] = [];
    const seenIdentities = new Set<string>();
    for (const sighting of sightings) {
      const identity = `${sighting.kind}:${sighting.key}`;
      const open = this.#open.get(identity);
      if (sighting.over === true) {
        if (open !== undefined) changes.push(this.#close(identity, open, step));
        continue;
      }
      if (sighting.vague === true && this.#hasSpecific(sighting, sightings)) continue;
      seenIdentities.add(identity);
      const change = this.#addSighting(identity, sighting, step);
      if (change !== undefined) changes.push(change);
    }
    if (!step.transparent && this.#open.size > seenIdentities.size)
      changes.push(...this.#ageUnseen(step, context, seenIdentities));
    return changes;
  }

  /** Processes the patterns seen in a text of the agent. A text is no step, so no pattern gets older. */
  read(sightings: readonly Sighting[], callIndex: number): readonly PatternChange[] {
    this.#openList = undefined;
    return sightings.flatMap((sighting) => {
      const { tool: _none, ...toolless } = sighting;
      return this.#addSighting(`${sighting.kind}:${sighting.key}`, toolless, { index: callIndex }) ?? [];
    });
  }

  /** Returns true if a more specific stuck pattern is seen in this step or was seen in the last two steps. */
  #hasSpecific({ kind }: Sighting, sightings: readonly Sighting[]): boolean {
    const isSpecific = (other: Pick<Sighting, 'kind' | 'stuck' | 'level'>): boolean =>
      other.kind !== kind && other.stuck && other.level !== 'hint';
    if (sightings.some(isSpecific)) return true;
    for (const { pattern, quiet } of this.#open.values()) if (quiet < 2 && isSpecific(pattern)) return true;
    return false;
  }

  open(): readonly TrajectoryPattern[] {
    return (this.#openList ??= Array.from(this.#open.values(), (open) => open.pattern));
  }

  all(): readonly TrajectoryPattern[] {
    return [...this.#closed, ...this.open()].sort(
      (a, b) => a.firstSeen - b.firstSeen || (a.identity < b.identity ? -1 : 1),
    );
  }

  snapshot(): PatternBookSnapshot {
    const refused = this.#refused.length === 0 ? undefined : [...this.#refused];
    return { open: [...this.#open.values()], closed: [...this.#closed], ...present({ refused }) };
  }

  #addSighting(identity: string, sighting: Sighting, step: Step | Place): PatternChange | undefined {
    const previous = this.#open.get(identity)?.pattern;
    const level =
      previous !== undefined && LEVEL_RANK[previous.level] > LEVEL_RANK[sighting.level]
        ? previous.level
        : sighting.level;
    const evidence = sighting.evidence.slice(-MAX_EVIDENCE);
    const refusedNow = evidence.filter((index) => this.#refused.includes(index)).length;
    const refused = Math.max(previous?.refused ?? 0, refusedNow);
    const pattern: TrajectoryPattern = {
      kind: sighting.kind,
      identity,
      stuck: sighting.stuck,
      level,
      confidence: Math.max(previous?.confidence ?? 0, sighting.confidence),
      ...(sighting.tool === undefined || !('tool' in step) ? {} : describeSubject(sighting.tool, step)),
      evidence,
      firstSeen: previous?.firstSeen ?? sighting.evidence[0] ?? step.index,
      flaggedAt: previous?.flaggedAt ?? (level === 'hint' ? null : step.index),
      occurrences: Math.max(previous?.occurrences ?? 0, sighting.occurrences),
      ...(refused === 0 ? {} : { refused }),
    };
    this.#open.set(identity, { pattern, quiet: 0, progress: 0 });
    if (previous === undefined) {
      this.#closeOldestBeyondLimit(step);
      return { type: 'noticed', pattern };
    }
    return previous.level === level ? undefined : { type: 'raised', pattern };
  }

  #ageUnseen(step: Step, context: StepContext, seenIdentities: ReadonlySet<string>): readonly PatternChange[] {
    const changes: PatternChange[] = [];
    const progressed = step.failure === undefined && !step.resultMissing && (context.novel || context.advanced) ? 1 : 0;
    for (const [identity, open] of this.#open) {
      if (seenIdentities.has(identity)) continue;
      const quiet = open.quiet + 1;
      const progress = open.progress + progressed;
      if (progress >= PROGRESS_TO_CLEAR || quiet >= QUIET_TO_CLEAR) changes.push(this.#close(identity, open, step));
      else this.#open.set(identity, { pattern: open.pattern, quiet, progress });
    }
    return changes;
  }

  #close(identity: string, open: OpenPattern, step: Place): PatternChange {
    const pattern = { ...open.pattern, clearedAt: step.index };
    this.#open.delete(identity);
    this.#closed.push(pattern);
    if (this.#closed.length > this.#maxClosed) this.#closed.shift();
    return { type: 'cleared', pattern };
  }

  #closeOldestBeyondLimit(step: Place): void {
    if (this.#open.size <= MAX_OPEN) return;
    const oldestEntry = this.#open.entries().next();
    if (oldestEntry.done !== true) this.#close(oldestEntry.value[0], oldestEntry.value[1], step);
  }
}

const SUBJECT_CHARS = 80;

/** Returns the subject and the answer of a pattern. Both are absent if the detector names a different tool than the step. */
function describeSubject(tool: string, step: Step): Pick<TrajectoryPattern, 'tool' | 'subject' | 'answer'> {
  if (tool !== step.tool) return { tool };
  const subject = step.program === tool ? step.target : step.program;
  const answer = answerClassOf(step);
  return { tool, ...(subject === undefined ? {} : { subject: subject.slice(-SUBJECT_CHARS) }), answer };
}

function answerClassOf({ failure, acknowledged, resultChars }: Step): AnswerClass {
  if (failure !== undefined) return failure.category;
  if (resultChars === 0) return 'empty';
  return acknowledged ? 'done' : 'content';
}
