import type { ReactElement } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import type { ReviewBy } from '../server/api-shapes.ts';
import { getLabels, getReview } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { shareOrDash } from './number-text.ts';
import { beginReview, reviewProgress } from './review.ts';
import type { Route } from './route.ts';
import { RunFiltersBar } from './run-filters-bar.tsx';
import { useLoaded, useReloadWhilePending } from './use-loaded.ts';

const KINDS: readonly (readonly [ReviewBy, string, string])[] = [
  ['pattern', 'Patterns', 'where a pattern was flagged: how often is it right?'],
  ['advice', 'Advice', 'where advice was produced: how often was it wanted?'],
  ['random', 'Random', 'any call: what do the detectors miss?'],
  ['disagreement', 'Disagreements', 'where your label and the patterns disagree: which is right?'],
];

/** The page on which the user labels calls, one after another. */
export function ReviewPage(props: {
  readonly route: Extract<Route, { page: 'review' }>;
  readonly sources: readonly SourceRow[];
}): ReactElement {
  const { route, sources } = props;
  const { by, filters } = route;
  const queue = useLoaded(`review ${JSON.stringify(route)}`, () => getReview(by, filters));
  const labels = useLoaded('labels', getLabels);
  const error = queue.error ?? labels.error;
  const pending = queue.value?.pending ?? 0;
  useReloadWhilePending(queue);
  if (error !== undefined) return <ErrorNotice error={error} onRetry={queue.reload} />;
  if (labels.value === undefined) return <Notice title="Loading…" />;
  const moments = queue.value?.moments ?? [];
  const isRecheck = by === 'disagreement';
  const { labelled, precision } = reviewProgress(moments, labels.value.labels);
  return (
    <>
      <RunFiltersBar
        filters={filters}
        sources={sources}
        facets={queue.value?.facets}
        status={queue.value === undefined ? 'Drawing moments…' : countOf(moments.length, 'moment')}
        to={(next) => ({ ...route, filters: next })}
      />
      <div className="sheet">
        <h1>Review</h1>
        <p className="intro">
          One moment after the other, each with one key: stuck (<kbd>y</kbd>), fine (<kbd>n</kbd>) or cannot say (
          <kbd>s</kbd>
          ). <kbd>z</kbd> undoes the last label, <kbd>u</kbd> removes the label of the moment.
        </p>
        <ul className="choices">
          {KINDS.map(([kind, name, what]) => (
            <li key={kind}>
              <Link className="button" to={{ ...route, by: kind }} isCurrent={kind === by}>
                {name}
              </Link>{' '}
              {what}
            </li>
          ))}
        </ul>
        {labels.value.file === null ? (
          <Notice title="No labels file">
            <p className="dim">
              Start the viewer with <code>--labels labels.csv</code>: labels are written there.
            </p>
          </Notice>
        ) : queue.value === undefined ? (
          <Notice title="Drawing moments…" />
        ) : (
          <>
            <p role="status">
              {isRecheck
                ? countOf(moments.length, 'disagreement')
                : `${countText(labelled)} of ${countOf(moments.length, 'moment')} labelled`}
              {pending > 0 ? `, ${countOf(pending, 'run')} not read yet` : ''}.
              {isRecheck ? '' : ` ${by === 'random' ? 'Stuck' : 'Right'} so far: ${shareOrDash(precision)}.`}
            </p>
            <p>
              <button
                type="button"
                className="primary"
                disabled={(isRecheck ? 0 : labelled) === moments.length}
                onClick={() => void beginReview({ by, filters })}
              >
                {isRecheck || labelled === 0 ? 'Begin' : 'Continue'}
              </button>
            </p>
          </>
        )}
      </div>
    </>
  );
}
