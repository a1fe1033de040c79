import { Fragment, type ReactElement, useEffect, useState } from 'react';

import { ApiError, getSources } from './api.ts';
import { Comparison } from './compare-page.tsx';
import { Dialog } from './dialog.tsx';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { type Route, runKey } from './route.ts';
import { RunListPage } from './run-list-page.tsx';
import { RunPageView } from './run-page.tsx';
import { safeLine } from './safe-text.ts';
import { keepAddress } from './session.ts';
import { sharedRun } from './shared-runs.ts';
import { useLoaded } from './use-loaded.ts';
import { useKeys } from './use-keys.ts';
import { useRoute } from './use-route.ts';
import { KEYS } from './use-run-keys.ts';

export function App({ sessionProblem }: { readonly sessionProblem: string | undefined }): ReactElement {
  const route = useRoute();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useKeys(({ key }) => {
    if (key === '?') setHelpOpen(true);
    return key === '?';
  });
  const title = titleOf(route);
  useEffect(() => {
    document.title = `${title} · coxswain`;
  }, [title]);
  return (
    <div className="shell">
      <header className="top">
        <Link className="brand" to={{ page: 'runs', filters: {} }}>
          <Mark />
          coxswain
        </Link>
        <span className="spring" />
        <button type="button" className="quiet" onClick={() => setHelpOpen(true)}>
          Keys <kbd>?</kbd>
        </button>
      </header>
      <main className="page">
        {sessionProblem === undefined ? (
          <Page route={route} />
        ) : (
          <Notice title={sessionProblem}>
            <p>
              Open the address that <code>coxswain view</code> printed in its terminal.
            </p>
          </Notice>
        )}
      </main>
      {isHelpOpen ? <HelpDialog onClose={() => setHelpOpen(false)} /> : null}
    </div>
  );
}

function titleOf(route: Route): string {
  if (route.page === 'run') return safeLine(route.run.runId).slice(0, 60);
  return route.page === 'compare' ? 'Compare' : 'Runs';
}

function Page({ route }: { readonly route: Route }): ReactElement {
  const sources = useLoaded('sources', getSources);
  const isShut = sources.error instanceof ApiError && sources.error.code === 'no-session';
  useEffect(() => {
    if (isShut) keepAddress();
  }, [isShut]);
  if (sources.value === undefined && sources.error !== undefined)
    return <ErrorNotice error={sources.error} onRetry={sources.reload} />;
  // A run needs no sources, so its requests do not wait for them.
  if (route.page === 'run') return <RunPageView key={runKey(route.run)} route={route} />;
  if (sources.value === undefined) return <Notice title="Loading…" />;
  if (route.page === 'compare') return <Comparison key={`${route.a} ${route.b}`} a={route.a} b={route.b} />;
  return <RunListPage filters={route.filters} sources={sources.value.sources} onSource={sources.reload} />;
}

function Mark(): ReactElement {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="M2 9.5h16c-1.2 2.6-3 4-5.4 4H7.2C5 13.5 3.200 12 2 9.500Z" fill="currentColor" stroke="none" />
      <path d="M6 3.500l4.500 9M13 3.500l-2 4" strokeWidth="1.500" strokeLinecap="round" />
      <path d="M3 17c1.500-1 2.800-1 4.300 0s2.900 1 4.400 0 3-1 4.600 0" strokeWidth="1.300" strokeLinecap="round" />
    </svg>
  );
}

/** The keys that need more than a file that was shared. */
const VIEWER_KEYS: ReadonlySet<string> = new Set(['f', 'y', 'n', 's', 'u', 'z', 'c']);
const ARROWS: Readonly<Record<string, string>> = { ArrowRight: '→', ArrowLeft: '←' };

function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className="keys">
        {KEYS.filter(([key]) => sharedRun === undefined || !VIEWER_KEYS.has(key)).map(([key, meaning]) => (
          <Fragment key={key}>
            <kbd>{ARROWS[key] ?? key}</kbd>
            <span>{meaning}</span>
          </Fragment>
        ))}
      </div>
    </Dialog>
  );
}
