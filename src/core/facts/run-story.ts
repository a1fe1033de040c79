import { callNumber, countOf, countText, durationText, shareText, usdText } from '../base/number-text.ts';
import { present } from '../base/json.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import { inWords } from '../records/words.ts';
import type { AdviceOutcome, NextCall } from './advice-outcome.ts';
import type { RunView } from './run-view.ts';
import { CACHE_TOKENS, type RunUsage } from './usage-fold.ts';
import { isFlagged, timesSeen, type RunPatterns } from './seen-pattern.ts';
import { tokenFacts } from './usage-text.ts';
import type { RunCall } from './run-call.ts';

const MAX_LINES = 64;
const LINE_CHARS = 160;

export interface Wasted extends Omit<RunUsage, 'answersWithoutCost'> {
  readonly call: number;
  readonly kind: string;
  readonly tool?: string;
  /** The last error line of the pattern's calls before the warning, with masked numbers. Absent if none of them failed. */
  readonly line?: string;
  readonly calls: number;
  readonly ms: number;
}

interface Spent extends RunUsage {
  readonly calls: number;
  readonly atMs: number;
}

/** Collects what the story of a run needs besides its view: the first warning, and the error lines. Memory: 64 lines. */
export class StoryFold {
  readonly #view: RunView;
  /** The first line with its own numbers, and how many equal it but for them. */
  readonly #errorLines = new Map<string, readonly [line: string, count: number]>();
  #firstWarning: Pick<Wasted, 'call' | 'kind' | 'tool' | 'line'> | undefined;
  readonly #openWarnings = new Set<string>();
  /** What was spent while no warning stood. */
  #before: Spent | undefined;
  /** What was spent when the last open warning ended. */
  #ended: Spent | undefined;
  #lastError: { readonly line: string; readonly index: number } | undefined;

  constructor(view: RunView) {
    this.#view = view;
  }

  /** @returns the line that states why the call failed, with masked numbers */
  fold(call: RunCall | undefined, errorLine: string | undefined): string | undefined {
    const shown = errorLine?.trim().slice(0, LINE_CHARS).toWellFormed();
    const line = shown?.replaceAll(/\d+/g, '#');
    if (call !== undefined && shown !== undefined && line !== undefined) {
      this.#lastError = { line, index: call.number - 1 };
      const [first = shown, count = 0] = this.#errorLines.get(line) ?? [];
      if (count > 0 || this.#errorLines.size < MAX_LINES) this.#errorLines.set(line, [first, count + 1]);
    }
    for (const pattern of this.#view.changedPatterns) if (pattern.stuck && isFlagged(pattern)) this.#note(pattern);
    return line;
  }

  get errorLine(): readonly [string, number] | undefined {
    return [...this.#errorLines.values()].sort(([, a], [, b]) => b - a)[0];
  }

  /** Undefined if the run never got stuck. */
  get wasted(): Wasted | undefined {
    if (this.#firstWarning === undefined || this.#before === undefined) return undefined;
    const {
      answersWithoutCost = 0,
      atMs,
      calls,
      costUsd,
      tokens,
      ...cached
    } = difference(this.#ended ?? this.#spent(), this.#before);
    return {
      ...this.#firstWarning,
      calls,
      ms: this.#before.atMs > 0 ? atMs : 0,
      ...present({
        tokens,
        ...Object.fromEntries(CACHE_TOKENS.map((name) => [name, cached[name]])),
        // A part of the cost would read like all of it.
        costUsd: answersWithoutCost === 0 ? costUsd : undefined,
      }),
    };
  }

  #spent(): Spent {
    const { answersUsage, calls, lastAtMs: atMs } = this.#view;
    return { ...answersUsage, calls, atMs };
  }

  #note({ clearedAt, firstSeen, identity, kind, tool }: TrajectoryPattern): void {
    const spent = this.#spent();
    if (clearedAt !== undefined) {
      if (this.#openWarnings.delete(identity) && this.#openWarnings.size === 0) this.#ended = spent;
      return;
    }
    const error = this.#lastError;
    const line = error !== undefined && error.index >= firstSeen ? error.line : undefined;
    this.#firstWarning ??= { call: spent.calls, kind, ...present({ tool, line }) };
    if (this.#ended !== undefined && this.#before !== undefined)
      this.#before = difference(spent, difference(this.#ended, this.#before));
    this.#before ??= spent;
    this.#ended = undefined;
    this.#openWarnings.add(identity);
  }
}

/** A field that only `less` has counts from 0. */
function difference(spent: Spent, less: Spent): Spent {
  const fields = Object.entries(spent).map(([name, value]: [string, number]) => [
    name,
    value - (less[name as keyof Spent] ?? 0),
  ]);
  return Object.fromEntries(fields);
}

const MAX_LINE = 80;

export interface StorySentence {
  readonly name: string;
  readonly mark: '' | 'stuck' | 'bad' | 'advice';
  readonly pieces: readonly StoryPiece[];
}

export interface StoryPiece {
  readonly text: string;
  readonly seq?: number;
  readonly style?: 'strong' | 'code';
}

export interface StoryPattern {
  readonly kind: string;
  readonly stuck: boolean;
  readonly occurrences: number;
  readonly fromCall: number;
  readonly fromSeq: number;
  readonly flaggedCall: number | null;
  readonly toCall: number | null;
}

interface StoryAdvice extends Pick<AdviceOutcome, 'delivery' | 'callsBefore' | 'nextCall' | 'seq'> {
  readonly pattern?: object;
  readonly isLeft: boolean;
}

export interface StoryFacts {
  readonly calls: number;
  readonly complete: boolean;
  readonly patternBasis: RunPatterns['basis'];
  readonly patterns: readonly StoryPattern[];
  readonly wasted?: Wasted;
  readonly errorLine?: readonly [string, number];
  readonly advice: readonly StoryAdvice[];
  readonly adviceLeftOut: number;
}

export function storyFactsOf(
  { advice, adviceLeftOut, calls, patterns: { basis, patterns } }: RunView,
  { errorLine, wasted }: StoryFold,
): StoryFacts {
  const numberOf = (index: number | null | undefined): number | null =>
    typeof index === 'number' ? callNumber(index) : null;
  return {
    calls,
    complete: true,
    patternBasis: basis,
    patterns: patterns
      .filter(({ pattern }) => isFlagged(pattern))
      .map(({ pattern: { clearedAt, firstSeen, flaggedAt, kind, occurrences, stuck } }) => ({
        kind,
        stuck,
        occurrences,
        fromCall: callNumber(firstSeen),
        fromSeq: 0,
        flaggedCall: numberOf(flaggedAt),
        toCall: numberOf(clearedAt),
      })),
    ...present({ wasted, errorLine }),
    advice: advice.map((outcome) => ({ ...outcome, isLeft: outcome.callsToClear !== undefined })),
    adviceLeftOut,
  };
}

/** The sentences that have something to say. */
export function runStory(facts: StoryFacts): readonly StorySentence[] {
  const { advice, patterns, wasted } = facts;
  const sentences: readonly StorySentence[] = [
    { name: 'Got stuck', mark: patterns.some(({ stuck }) => stuck) ? 'stuck' : '', pieces: stuckPieces(facts) },
    { name: 'Cost of it', mark: wasted === undefined ? '' : 'bad', pieces: [{ text: costText(facts) }] },
    { name: 'Advice', mark: advice.length > 0 ? 'advice' : '', pieces: advicePieces(facts) },
    { name: 'Did it help?', mark: '', pieces: [{ text: helpText(facts) }] },
  ];
  return advice.length > 0 ? sentences : sentences.filter(({ mark }) => mark !== '');
}

export function sentenceText({ pieces }: Pick<StorySentence, 'pieces'>): string {
  return pieces.map(({ text }) => text).join('');
}

function stuckPieces({ calls, complete, errorLine, patternBasis, patterns }: StoryFacts): readonly StoryPiece[] {
  const stuckPatterns = patterns.filter(({ stuck }) => stuck);
  // The first warning. The next sentence counts from it.
  const [first] = stuckPatterns.toSorted((a, b) => (a.flaggedCall ?? Infinity) - (b.flaggedCall ?? Infinity));
  if (first === undefined) return [{ text: complete ? 'No pattern was detected.' : 'Not in the part read so far.' }];
  const { flaggedCall, fromCall, fromSeq, kind, toCall } = first;
  const until = toCall === null ? ' to the end' : ` until call ${countText(toCall)}`;
  const noticed = flaggedCall === null ? '' : `, noticed at call ${countText(flaggedCall)}`;
  const more = stuckPatterns.length === 1 ? '' : ` ${countOf(stuckPatterns.length - 1, 'more pattern')}.`;
  return [
    { text: 'From ' },
    { text: `call ${countText(fromCall)}`, seq: fromSeq },
    { text: `${until}${noticed}: ` },
    { text: inWords('pattern', kind.slice(0, 60)), style: 'strong' },
    { text: ` (${timesSeen({ ...first, clearedAt: toCall }, patternBasis)}).${more}` },
    ...(errorLine === undefined || errorLine[1] < 2
      ? []
      : [
          { text: ` ${countText(errorLine[1])} of ${countOf(calls, 'call')}: ` },
          { text: errorLine[0].slice(0, MAX_LINE).toWellFormed(), style: 'code' as const },
        ]),
  ];
}

function costText({ calls, complete, wasted }: StoryFacts): string {
  if (wasted === undefined)
    return complete ? 'Nothing is counted, because it counts from the first pattern.' : 'No warning so far.';
  if (wasted.calls === 0) return 'No call was made while a warning stood.';
  const parts = [
    countOf(wasted.calls, 'call'),
    ...(wasted.ms > 0 ? [durationText(wasted.ms)] : []),
    ...tokenFacts(wasted),
    ...(wasted.costUsd === undefined ? [] : [usdText(wasted.costUsd)]),
  ];
  return `${parts.join(' · ')} while a warning stood (${shareText(calls === 0 ? null : wasted.calls / calls)} of the calls).`;
}

function advicePieces({ advice, adviceLeftOut }: StoryFacts): readonly StoryPiece[] {
  const [first, ...others] = advice.filter(({ delivery }) => delivery === 'delivered');
  const unsaid = Object.entries(Object.groupBy(advice, ({ delivery }) => delivery))
    .filter(([delivery]) => delivery !== 'delivered')
    .map(([delivery, pieces]) => `${countText(pieces.length)} ${inWords('delivery', delivery)}`);
  const end = unsaid.length === 0 ? '.' : `; ${unsaid.join(', ')}.`;
  if (first === undefined) return [{ text: `No advice reached the agent${end}` }];
  return [
    { text: `${countOf(1 + others.length + adviceLeftOut, 'time')}, first after ` },
    { text: `call ${countText(first.callsBefore)}`, seq: first.seq },
    { text: end },
  ];
}

const NEXT_CALLS: readonly (readonly [NextCall, string])[] = [
  ['repeated', 'made the same call again'],
  ['same-failure', 'failed in the same way'],
  ['other-failure', 'failed in another way'],
  ['refused', 'made another call, which was refused'],
  ['succeeded', 'made another call, which succeeded'],
  ['open', 'made a call without a result'],
  ['none', 'made no further call'],
];

/** With fewer calls after the last advice, it is not known whether it helped. */
const TELLING_CALLS = 5;

/** No if a pattern was never cleared, but never yes: one run shows no cause. Advice without a pattern counts for the next call only. */
function helpText({ advice, calls }: StoryFacts): string {
  const delivered = advice.filter(({ delivery }) => delivery === 'delivered');
  const isSilent = delivered.length === 0;
  const pieces = isSilent ? advice : delivered;
  const nextCalls = NEXT_CALLS.map(([call, words]) => {
    const times = pieces.filter(({ nextCall }) => nextCall === call).length;
    return times === 0 ? [] : [times === pieces.length ? `it ${words}` : `${countText(times)}× it ${words}`];
  });
  const next = `${isSilent ? 'Without it' : 'Next'}, ${nextCalls.flat().join(', ')}.`;
  const aboutPattern = pieces.filter(({ pattern }) => pattern !== undefined);
  if (aboutPattern.length === 0) return `${isSilent ? '' : 'The advice was not about a pattern. '}${next}`;
  const leftCount = aboutPattern.filter(({ isLeft }) => isLeft).length;
  const cleared =
    leftCount === 0
      ? 'the pattern was not cleared'
      : aboutPattern.length === 1
        ? 'the pattern was cleared'
        : `the pattern was cleared after ${countText(leftCount)} of ${countText(aboutPattern.length)}`;
  if (isSilent) return `${next} Later ${cleared}.`;
  const callsAfter = calls - Math.max(...aboutPattern.map(({ callsBefore }) => callsBefore));
  if (leftCount === 0 && callsAfter < TELLING_CALLS)
    return `Not known: ${callsAfter === 0 ? 'no call' : `only ${countOf(callsAfter, 'call')}`} followed, and ${cleared}. ${next}`;
  return `${leftCount === 0 ? 'No' : 'Perhaps'}: ${cleared}. ${next}`;
}
