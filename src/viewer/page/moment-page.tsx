import { useEffect, type ReactElement } from 'react';

import { present } from '../../core/base/present.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import { ApiError, getCall, getSources, type RunAddress } from './api.ts';
import { ErrorNotice, Notice } from './notice.tsx';
import type { Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';
import { goTo } from './use-route.ts';

/** Finds a run in the sources, and opens it at the call. */
export function MomentPage(props: { readonly route: Moment; readonly sources: readonly SourceRow[] }): ReactElement {
  const { route, sources } = props;
  const { label, runId } = route;
  const place = useLoaded(JSON.stringify(route), () => placeOf(route, sources));
  const { value } = place;
  useEffect(() => {
    if (value !== undefined && value !== null)
      goTo({ page: 'run', ...value, ...present({ label }) }, { replace: true });
  }, [value, label]);
  if (place.error !== undefined) return <ErrorNotice error={place.error} onRetry={place.reload} />;
  if (value !== null) return <Notice title="Looking for the run…" />;
  return (
    <Notice title={`No run ${safeLine(runId)} here`}>
      <p className="dim">Start the viewer with the runs of the backtest too.</p>
    </Notice>
  );
}

type Moment = Extract<Route, { page: 'moment' }>;

interface Place {
  readonly run: RunAddress;
  readonly at: number;
}

/** Pause between two attempts while files are being read. */
const LOOK_MS = 300;

/** Finds a call of a run. Returns null if all files have been read and no source has the run. */
async function placeOf(moment: Moment, sources: readonly SourceRow[]): Promise<Place | null> {
  const place = await placeIn(moment, sources);
  if (place !== null || sources.every(({ indexing }) => indexing === undefined)) return place;
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return placeOf(moment, (await getSources()).sources);
}

async function placeIn({ call, runId, source }: Moment, sources: readonly SourceRow[]): Promise<Place | null> {
  for (const { id } of sources) {
    if (source !== undefined && source !== id) continue;
    const run = { source: id, runId };
    try {
      return { run, at: (await getCall(run, call))?.seq ?? 0 };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  return null;
}
