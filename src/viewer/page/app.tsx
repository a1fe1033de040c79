import { useCallback, useEffect, useState, type ReactElement } from 'react';

import { assertNever } from '../../core/base/assert-never.ts';
import { ApiError, getSources } from './api.ts';
import { ComparePage } from './compare-page.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { isTyping } from './is-typing.ts';
import { Link } from './link.tsx';
import { MomentPage } from './moment-page.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import type { Route } from './route.ts';
import { RunListPage } from './run-list-page.tsx';
import { RunPageView } from './run-page.tsx';
import { runKey } from './route.ts';
import { safeLine } from './safe-text.ts';
import { keepAddress } from './session.ts';
import { ThemeButton } from './theme-button.tsx';
import { useLoaded } from './use-loaded.ts';
import { useRoute } from './use-route.ts';

/** The root component: the bar at the top, and the content of the route below it. */
export function App({ sessionProblem }: { readonly sessionProblem: string | undefined }): ReactElement {
  const route = useRoute();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const closeHelp = useCallback(() => setHelpOpen(false), []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '?' || isTyping(event)) return;
      setHelpOpen(true);
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
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
        <ThemeButton />
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
      {isHelpOpen ? <HelpDialog onClose={closeHelp} /> : null}
    </div>
  );
}

function titleOf(route: Route): string {
  switch (route.page) {
    case 'runs':
      return 'Runs';
    case 'run':
      return safeLine(route.run.runId).slice(0, 60);
    case 'compare':
      return 'Compare';
    case 'moment':
      return safeLine(route.runId).slice(0, 60);
    default:
      return assertNever(route);
  }
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
  switch (route.page) {
    case 'runs':
      return <RunListPage filters={route.filters} sources={sources.value.sources} onSource={sources.reload} />;
    case 'compare':
      return <ComparePage route={route} />;
    case 'moment':
      return <MomentPage route={route} sources={sources.value.sources} />;
    default:
      return assertNever(route);
  }
}

/** Draws the logo: a boat and its wake. */
function Mark(): ReactElement {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="M2 9.5h16c-1.2 2.6-3 4-5.4 4H7.2C5 13.5 3.200 12 2 9.500Z" fill="currentColor" stroke="none" />
      <path d="M6 3.500l4.500 9M13 3.500l-2 4" strokeWidth="1.500" strokeLinecap="round" />
      <path d="M3 17c1.500-1 2.800-1 4.300 0s2.900 1 4.400 0 3-1 4.600 0" strokeWidth="1.300" strokeLinecap="round" />
    </svg>
  );
}
