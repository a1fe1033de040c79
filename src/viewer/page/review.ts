import type { ReviewBy, ReviewMoment } from '../server/cohort-shapes.ts';
import type { LabelRow } from '../server/api-shapes.ts';
import { countOf, countText } from '../../base/number-text.ts';
import { getCall, getLabels, getReview } from './api.ts';
import { goTo } from './use-route.ts';

/** The progress of a review. */
export interface ReviewProgress {
  readonly labelled: number;
  /** The share of calls labelled stuck among those labelled stuck or fine. Null before the first label. */
  readonly precision: number | null;
}

export function reviewProgress(moments: readonly ReviewMoment[], labels: readonly LabelRow[]): ReviewProgress {
  const targets = new Map(labels.map(({ id, target }) => [id, target]));
  const found = moments.map((moment) => targets.get(idOf(moment))).filter((target) => target !== undefined);
  const [stuck, fine] = [found.filter((one) => one === 'stuck').length, found.filter((one) => one === 'ok').length];
  return { labelled: found.length, precision: stuck + fine === 0 ? null : stuck / (stuck + fine) };
}

/** Disagreements shown since the review started. They already have labels, so a label does not show which of them are done. */
const shown = new Set<string>();

/** Starts the review at the first call that is not done. */
export async function beginReview(by: ReviewBy): Promise<void> {
  shown.clear();
  await goToNext(by);
}

let progress: string | undefined;

/** Formats the progress of the review. Undefined before the review starts. */
export function progressText(): string | undefined {
  return progress;
}

/** Goes to the next call, or to the review page after the last call. */
export async function goToNext(by: ReviewBy): Promise<void> {
  const [{ moments }, { labels }] = await Promise.all([getReview(by), getLabels()]);
  const done = by === 'disagreement' ? shown : new Set(labels.map(({ id }) => id));
  const open = moments.filter((moment) => !done.has(idOf(moment)));
  const [next] = open;
  progress =
    by === 'disagreement'
      ? `${countOf(open.length, 'disagreement')} left`
      : `${countText(moments.length - open.length)} of ${countOf(moments.length, 'moment')} labelled`;
  if (next === undefined) goTo({ page: 'review', by });
  else {
    shown.add(idOf(next));
    const run = { source: next.source, runId: next.runId };
    const place = await getCall(run, { call: next.call });
    goTo({ page: 'run', run, at: place?.seq ?? 0, review: by });
  }
}

function idOf({ call, runId }: ReviewMoment): string {
  return `${runId}@${call}`;
}
