import type { ReviewMoment } from '../server/api-shapes.ts';
import type { LabelRow } from '../server/api-shapes.ts';
import { countOf, countText } from '../../core/base/number-text.ts';
import { getCall, getLabels, getReview } from './api.ts';
import type { ReviewQueue } from './route.ts';
import { goTo } from './use-route.ts';

/** The progress of a review. */
export interface ReviewProgress {
  readonly labelled: number;
  /** The share of calls labelled stuck among those labelled stuck or fine. Null before the first label. */
  readonly precision: number | null;
}

export function reviewProgress(moments: readonly ReviewMoment[], labels: readonly LabelRow[]): ReviewProgress {
  const targets = new Map(labels.map(({ id, target }) => [id, target]));
  const momentTargets = moments.map((moment) => targets.get(idOf(moment))).filter((target) => target !== undefined);
  const [stuck, fine] = [
    momentTargets.filter((one) => one === 'stuck').length,
    momentTargets.filter((one) => one === 'ok').length,
  ];
  return { labelled: momentTargets.length, precision: stuck + fine === 0 ? null : stuck / (stuck + fine) };
}

/** Disagreements shown since the review started. They already have labels, so a label does not show which of them are done. */
const shownDisagreements = new Set<string>();

/** Starts the review at the first call that is not done. */
export async function beginReview(review: ReviewQueue): Promise<void> {
  shownDisagreements.clear();
  await goToNext(review);
}

let progress: string | undefined;

/** Formats the progress of the review. Undefined before the review starts. */
export function progressText(): string | undefined {
  return progress;
}

/** Goes to the next call, or to the review page after the last call. */
export async function goToNext(review: ReviewQueue): Promise<void> {
  const { by, filters } = review;
  const [{ moments }, { labels }] = await Promise.all([getReview(by, filters), getLabels()]);
  const doneIds = by === 'disagreement' ? shownDisagreements : new Set(labels.map(({ id }) => id));
  const openMoments = moments.filter((moment) => !doneIds.has(idOf(moment)));
  const [nextMoment] = openMoments;
  progress =
    by === 'disagreement'
      ? `${countOf(openMoments.length, 'disagreement')} left`
      : `${countText(moments.length - openMoments.length)} of ${countOf(moments.length, 'moment')} labelled`;
  if (nextMoment === undefined) goTo({ page: 'review', ...review });
  else {
    shownDisagreements.add(idOf(nextMoment));
    const run = { source: nextMoment.source, runId: nextMoment.runId };
    const place = await getCall(run, nextMoment.call);
    goTo({ page: 'run', run, at: place?.seq ?? 0, review });
  }
}

function idOf({ call, runId }: ReviewMoment): string {
  return `${runId}@${call}`;
}
