/**
 * Trains the structural score of `src/core/detect/patterns/structure.ts` on recorded runs: `node scripts/train-repetition.ts [--write]`. It learns
 * from the labelled moments of the build part, and from the calls of runs that succeeded; tasks of which the judge part holds a
 * moment are left out. Prints the cross-validated figures (five folds, split by task); `--write` stores the weights with them.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shareOf } from '../src/lab/statistics.ts';
import { hashNumber } from '../src/core/base/hash.ts';
import type { PatternDetector } from '../src/core/detect/patterns/pattern-detector.ts';
import { isSameAgain } from '../src/core/detect/detectors/repetition-chance.ts';
import { FEATURES, Structure } from '../src/core/detect/patterns/structure.ts';
import { CORPORA, foldCorpus, readMoments, type FoldedRun, type Moment } from '../test/support/score-truth.ts';
import { sharedPath } from '../test/support/shared-data.ts';

/** The features after one call. */
interface Sample {
  readonly x: readonly number[];
  readonly call: number;
  /** The detector lets no other call be flagged. */
  readonly again: boolean;
}

interface Run {
  readonly folded: FoldedRun;
  readonly samples: readonly Sample[];
  readonly modern: boolean;
  readonly fold: number;
  readonly moments: readonly Moment[];
}

const FOLDS = 5;
/** Ridge penalty: with some hundred labelled calls, enough to keep weights of like features apart from noise. */
const PENALTY = 1;
/** A call of a run that succeeded is probably fine, but was not read. */
const UNREAD_WEIGHT = 0.2;
/** Largest share of the runs that succeeded which the score may flag: the rules beside it take some of the 1 % too. */
const MAX_FLAGGED = 0.006;

const folder = sharedPath('trajectories');
if (folder === undefined) throw new Error('the recorded runs are not there: ../shared/trajectories is missing');
const all = readMoments(fileURLToPath(new URL('../test/truth/moments.jsonl', import.meta.url)));
const judged = new Set(all.filter((moment) => moment.part === 'judge').map(taskOf));
const runs = await readAll(folder);

const points = runs.flatMap(labelled);
const models = Array.from({ length: FOLDS }, (_, fold) => fit(points.filter((point) => point.fold !== fold)));
const scored = runs.map((run) => {
  const model = models[run.fold] ?? [];
  return { run, scores: run.samples.map(({ x, call, again }) => ({ call, p: again ? chance(model, x) : 0 })) };
});
const threshold = leastThreshold();
const figures = figuresAt(threshold);
console.log({ points: points.length, stuck: points.filter(({ y }) => y === 1).length, threshold, ...figures });
const weights = fit(points).map((weight) => Math.round(weight * 1_000) / 1_000);
const named = Object.fromEntries(FEATURES.map((name, at) => [name, weights[at + 1] ?? 0]));
console.log({ bias: weights[0], ...named });
if (process.argv.includes('--write')) {
  const path = fileURLToPath(new URL('../src/core/detect/detectors/repetition-weights.json', import.meta.url));
  const content = { threshold, bias: weights[0], weights: named, crossValidated: figures };
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

function taskOf({ corpus, run }: { readonly corpus: string; readonly run: string }): string {
  return `${corpus}/${run.slice(run.lastIndexOf('/') + 1)}`;
}

async function readAll(from: string): Promise<readonly Run[]> {
  const read: Run[] = [];
  for (const corpus of CORPORA) {
    let samples: Sample[] = [];
    for await (const folded of foldCorpus(corpus, from, { detectors: () => [collector((samples = []))] })) {
      const task = taskOf(folded);
      const moments = all.filter((moment) => moment.corpus === folded.corpus && moment.run === folded.run);
      if (judged.has(task) || (moments.length === 0 && folded.success !== true)) continue;
      if (folded.run.includes('plan_solve') && moments.length === 0) continue;
      read.push({ folded, samples, modern: corpus.modern, fold: hashNumber(task) % FOLDS, moments });
    }
  }
  return read;
}

/** Takes down the features of a run's calls. */
function collector(samples: Sample[]): PatternDetector {
  return {
    name: 'collector',
    start() {
      const structure = new Structure();
      return {
        observe(step, context) {
          if (!step.transparent && !step.resultMissing) {
            structure.observe(step, context);
            const x = structure.features();
            samples.push({ x, call: step.index + 1, again: isSameAgain(structure, step) });
          }
          return undefined;
        },
        snapshot: () => null,
      };
    },
  };
}

interface Point {
  readonly x: readonly number[];
  readonly y: 0 | 1;
  readonly weight: number;
  readonly fold: number;
}

function labelled({ folded, samples, moments, fold }: Run): readonly Point[] {
  const stuck = moments.filter((moment) => moment.label === 'stuck');
  return samples.flatMap(({ x, call }): readonly Point[] => {
    if (stuck.some(({ since = Infinity, call: last }) => since <= call && call <= last))
      return [{ x, y: 1, weight: 1, fold }];
    if (moments.some((moment) => moment.label === 'fine' && moment.call === call))
      return [{ x, y: 0, weight: 1, fold }];
    const isBefore = stuck.some(({ since = 0 }) => call < since);
    if (isBefore) return [{ x, y: 0, weight: 1, fold }];
    return folded.success === true && moments.length === 0 ? [{ x, y: 0, weight: UNREAD_WEIGHT, fold }] : [];
  });
}

function chance(model: readonly number[], x: readonly number[]): number {
  const sum = x.reduce((total, value, at) => total + value * (model[at + 1] ?? 0), model[0] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}

/** Logistic regression by Newton's method, with a ridge penalty on all but the bias. */
function fit(from: readonly Point[]): readonly number[] {
  const size = FEATURES.length + 1;
  let model: number[] = Array.from({ length: size }, () => 0);
  for (let round = 0; round < 12; round += 1) {
    const gradient = model.map((weight, at) => (at === 0 ? 0 : -PENALTY * weight));
    const curve = model.map((_, row) => model.map((__, column) => (row === column ? (row === 0 ? 1e-9 : PENALTY) : 0)));
    for (const { x, y, weight } of from) {
      const input = [1, ...x];
      const p = chance(model, x);
      const spread = weight * p * (1 - p);
      for (let row = 0; row < size; row += 1) {
        // Every index lies below the size.
        const left = input[row] as number;
        if (left === 0) continue;
        gradient[row] = (gradient[row] as number) + weight * (y - p) * left;
        const line = curve[row] as number[];
        for (let column = 0; column < size; column += 1) {
          line[column] = (line[column] as number) + spread * left * (input[column] as number);
        }
      }
    }
    const step = solve(curve, gradient);
    model = model.map((weight, at) => weight + (step[at] as number));
  }
  return model;
}

/** Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const size = right.length;
  // Every index below lies within the matrix.
  const rows = matrix.map((row, at) => [...row, right[at] as number]);
  for (let pivot = 0; pivot < size; pivot += 1) {
    let best = pivot;
    for (let row = pivot + 1; row < size; row += 1) {
      if (Math.abs(rows[row]?.[pivot] as number) > Math.abs(rows[best]?.[pivot] as number)) best = row;
    }
    [rows[pivot], rows[best]] = [rows[best] as number[], rows[pivot] as number[]];
    const line = rows[pivot] as number[];
    for (let row = 0; row < size; row += 1) {
      if (row === pivot) continue;
      const other = rows[row] as number[];
      const factor = (other[pivot] as number) / (line[pivot] as number);
      for (let column = pivot; column <= size; column += 1) {
        other[column] = (other[column] as number) - factor * (line[column] as number);
      }
    }
  }
  return rows.map((row, at) => (row[size] as number) / (row[at] as number));
}

/** The least threshold, in steps of 0.05, at which few successful runs are flagged, and none of today's and no fine moment. */
function leastThreshold(): number {
  for (let percent = 30; percent < 100; percent += 5) {
    const { succeededFlagged, todayFlagged, fineFlagged } = countsAt(percent / 100);
    if (succeededFlagged.share <= MAX_FLAGGED && todayFlagged.hits + fineFlagged === 0) return percent / 100;
  }
  return 0.99;
}

function countsAt(limit: number): {
  readonly succeededFlagged: { readonly hits: number; readonly of: number; readonly share: number };
  readonly todayFlagged: { readonly hits: number; readonly of: number; readonly share: number };
  readonly fineFlagged: number;
} {
  const flagged = (modern: boolean): { readonly hits: number; readonly of: number; readonly share: number } => {
    const succeeded = scored.filter(({ run }) => run.folded.success === true && run.modern === modern);
    const hits = succeeded.filter(({ scores }) => scores.some(({ p }) => p >= limit)).length;
    return { hits, of: succeeded.length, share: hits / Math.max(1, succeeded.length) };
  };
  const fineFlagged = scored.flatMap(({ run, scores }) =>
    run.moments.filter(
      ({ label, call }) => label === 'fine' && scores.some((each) => each.call === call && each.p >= limit),
    ),
  ).length;
  return { succeededFlagged: flagged(false), todayFlagged: flagged(true), fineFlagged };
}

function figuresAt(limit: number): object {
  const stretches = scored.flatMap(({ run, scores }) => {
    const stuck = run.moments.filter((moment) => moment.label === 'stuck');
    const last = stuck.at(-1);
    if (last === undefined) return [];
    const since = last.since ?? last.call;
    const first = scores.find(({ call, p }) => call >= since - 1 && call <= last.call && p >= limit);
    return [first === undefined ? null : first.call - since];
  });
  const found = stretches.filter((delay) => delay !== null);
  const { succeededFlagged, todayFlagged, fineFlagged } = countsAt(limit);
  return {
    stretchesFound: shareOf(found.length, stretches.length),
    withinOneCall: shareOf(found.filter((delay) => delay <= 1).length, found.length),
    successfulRunsFlagged: shareOf(succeededFlagged.hits, succeededFlagged.of),
    successfulRunsOfTodayFlagged: shareOf(todayFlagged.hits, todayFlagged.of),
    fineMomentsFlagged: fineFlagged,
  };
}
