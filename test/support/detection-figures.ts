import { scoreCases, type LabelledCase } from './score-scenarios.ts';
import { delayOf, foldRecorded, scoreTruth, type Moment, type RecordedRun } from './score-truth.ts';

/** The data by which detection is judged while it is developed. */
export interface DetectionData {
  readonly older: readonly RecordedRun[];
  readonly today: readonly RecordedRun[];
  readonly moments: readonly Moment[];
  readonly cases: readonly LabelledCase[];
}

/** The results of the detectors on the data, as JSON. */
export interface DetectionFigures {
  /** Labelled stretches that were found. */
  readonly stretches: readonly string[];
  /** Clear-cut cases that were classified in time. */
  readonly cases: readonly string[];
  /** Flagged stuck patterns, and successful runs with one. */
  readonly alarms: Readonly<Record<'older' | 'today', number>>;
  readonly successfulFlagged: Readonly<Record<'older' | 'today', number>>;
  /** All patterns with their calls, by run and by case. */
  readonly patterns: Readonly<Record<string, string>>;
}

/** Folds recorded runs and labelled cases with the detectors as they are loaded. */
export function detectionFigures({ older, today, moments, cases }: DetectionData): DetectionFigures {
  const stretches = new Set<string>();
  const patterns: Record<string, string> = {};
  const [old, now] = [older, today].map((recorded) => {
    const runs = recorded.map((each) => {
      const folded = foldRecorded(each);
      patterns[`${each.corpus} ${each.run}`] = folded.patterns
        .map(({ kind, level, flaggedAt, clearedAt }) => [kind, level, flaggedAt, clearedAt].join(' '))
        .join(', ');
      return folded.run;
    });
    const byName = new Map(runs.map((run) => [`${run.corpus} ${run.run}`, run]));
    for (const moment of moments) {
      const run = byName.get(`${moment.corpus} ${moment.run}`);
      if (moment.label === 'stuck' && run !== undefined && delayOf(run, moment) !== null)
        stretches.add(`${moment.corpus} ${moment.run} ${moment.since}`);
    }
    return scoreTruth(runs, moments);
  });
  const scores = scoreCases(cases);
  for (const { id, firstFlag, flaggedKinds } of scores) patterns[`case ${id}`] = `${firstFlag} ${flaggedKinds.join()}`;
  return {
    stretches: [...stretches],
    cases: scores
      .filter(({ verdict, debatable }) => !debatable && (verdict === 'right' || verdict === 'late'))
      .map(({ id }) => id),
    alarms: { older: old?.alarms ?? 0, today: now?.alarms ?? 0 },
    successfulFlagged: { older: old?.succeededFlagged ?? 0, today: now?.succeededFlagged ?? 0 },
    patterns,
  };
}
