import { Fragment, type ReactElement, useCallback, useEffect, useRef, useState } from 'react';

import { assertNever } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import { ApiError, getCall, getSources, type RunAddress } from './api.ts';
import { ComparePage } from './compare-page.tsx';
import { isTyping } from './is-typing.ts';
import { Link } from './link.tsx';
import { ErrorNotice, isStillReading, Notice } from './notice.tsx';
import { type Route, runKey } from './route.ts';
import { RunListPage } from './run-list-page.tsx';
import { RunPageView } from './run-page.tsx';
import { safeLine } from './safe-text.ts';
import { keepAddress } from './session.ts';
import { sharedRun } from './shared-runs.ts';
import { applyTheme, storedTheme, type Theme, THEMES } from './theme.ts';
import { useLoaded } from './use-loaded.ts';
import { goTo, useRoute } from './use-route.ts';

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

function Mark(): ReactElement {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="M2 9.5h16c-1.2 2.6-3 4-5.4 4H7.2C5 13.5 3.200 12 2 9.500Z" fill="currentColor" stroke="none" />
      <path d="M6 3.500l4.500 9M13 3.500l-2 4" strokeWidth="1.500" strokeLinecap="round" />
      <path d="M3 17c1.500-1 2.800-1 4.300 0s2.900 1 4.400 0 3-1 4.600 0" strokeWidth="1.300" strokeLinecap="round" />
    </svg>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ['j', 'next row'],
  ['k', 'previous row'],
  ['→', 'next call'],
  ['←', 'previous call'],
  ['e', 'next error'],
  ['E', 'previous error'],
  ['p', 'next pattern'],
  ['P', 'previous pattern'],
  ['a', 'next advice'],
  ['A', 'previous advice'],
  ['Enter', 'open a run, unfold a row'],
  ['Escape', 'clear the selection'],
  ['/', 'search'],
  [']', 'next match'],
  ['[', 'previous match'],
  ['g', 'to the beginning'],
  ['G', 'to the end'],
  ['f', 'follow a live run, or pause'],
  ['y', 'label the call: stuck here'],
  ['n', 'label the call: it is fine'],
  ['s', 'label the call: cannot say'],
  ['u', 'remove the label'],
  ['z', 'undo the last label'],
  ['c', 'compare this run with another'],
  ['?', 'this help'],
];

/** The keys that need more than a file that was shared. */
const VIEWER_KEYS: ReadonlySet<string> = new Set(['f', 'y', 'n', 's', 'u', 'z', 'c']);

function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <div className="keys">
        {KEYS.filter(([key]) => sharedRun === undefined || !VIEWER_KEYS.has(key)).map(([key, meaning]) => (
          <Fragment key={key}>
            <kbd>{key}</kbd>
            <span>{meaning}</span>
          </Fragment>
        ))}
      </div>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}

const WORDS: Readonly<Record<Theme, string>> = { auto: 'as the system', light: 'light', dark: 'dark' };

function ThemeButton(): ReactElement {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const nextTheme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  const label = `Theme: ${WORDS[theme]}`;
  return (
    <button
      type="button"
      className="quiet icon"
      aria-label={label}
      title={`${label} (then ${WORDS[nextTheme]})`}
      onClick={() => {
        setTheme(nextTheme);
        applyTheme(nextTheme);
      }}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor">
        <Picture theme={theme} />
      </svg>
    </button>
  );
}

function Picture({ theme }: { readonly theme: Theme }): ReactElement {
  if (theme === 'dark') return <path d="M13.5 10A6 6 0 0 1 6 2.5a6 6 0 1 0 7.5 7.5Z" fill="currentColor" />;
  if (theme === 'auto') {
    return (
      <>
        <circle cx="8" cy="8" r="5.5" strokeWidth="1.3" />
        <path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" stroke="none" />
      </>
    );
  }
  return (
    <>
      <circle cx="8" cy="8" r="2.8" fill="currentColor" />
      <path
        d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13"
        strokeWidth="1.3"
        strokeLinecap="round"
      />
    </>
  );
}

function MomentPage(props: { readonly route: Moment; readonly sources: readonly SourceRow[] }): ReactElement {
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

/** Finds a call of a run. Returns null if no source has the run. */
async function placeOf({ call, runId, source }: Moment, sources: readonly SourceRow[]): Promise<Place | null> {
  let stillReading: Error | undefined;
  for (const { id } of sources) {
    if (source !== undefined && source !== id) continue;
    const run = { source: id, runId };
    try {
      return { run, at: (await getCall(run, call))?.seq ?? 0 };
    } catch (error) {
      if (error instanceof Error && isStillReading(error)) stillReading = error;
      else if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  if (stillReading !== undefined) throw stillReading;
  return null;
}
