import type { ReviewBy, ReviewMoment } from '../server/cohort-shapes.ts';
import type { LabelRow } from '../server/api-shapes.ts';
import { getCall, getLabels, getReview } from './api.ts';
import { goTo } from './use-route.ts';

/** How far a review has come. */
export interface ReviewProgress {
  readonly labelled: number;
  /** Of those that are labelled as stuck or fine, the share that is stuck; null before the first. */
  readonly precision: number | null;
}

export function reviewProgress(moments: readonly ReviewMoment[], labels: readonly LabelRow[]): ReviewProgress {
  const targets = new Map(labels.map(({ id, target }) => [id, target]));
  const said = moments.map((moment) => targets.get(idOf(moment))).filter((target) => target !== undefined);
  const [stuck, fine] = [said.filter((one) => one === 'stuck').length, said.filter((one) => one === 'ok').length];
  return { labelled: said.length, precision: stuck + fine === 0 ? null : stuck / (stuck + fine) };
}

/** Goes to the first moment without a label; to the page of the review when there is none. */
export async function goToNext(by: ReviewBy, moments: readonly ReviewMoment[]): Promise<void> {
  const { labels } = await getLabels();
  const done = new Set(labels.map(({ id }) => id));
  const next = moments.find((moment) => !done.has(idOf(moment)));
  if (next === undefined) {
    goTo({ page: 'review', by });
    return;
  }
  const run = { source: next.source, runId: next.runId };
  const place = await getCall(run, { call: next.call });
  goTo({ page: 'run', run, at: place?.seq ?? 0, review: by });
}

/** The moment after the one that was just labelled. */
export async function goOn(by: ReviewBy): Promise<void> {
  await goToNext(by, (await getReview(by)).moments);
}

function idOf({ call, runId }: ReviewMoment): string {
  return `${runId}@${call}`;
}
