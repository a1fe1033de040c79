import { useState, type ReactElement, type ReactNode } from 'react';

import { safeText } from '../../core/base/shown-text.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import { ApiError } from './api.ts';

/** Explains why a page is empty and what the user can do. */
export function Notice(props: { readonly title: string; readonly children?: ReactNode }): ReactElement {
  return (
    <div className="notice" role="status">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** Shows an error, how to fix it, and a button to retry. */
export function ErrorNotice(props: { readonly error: Error; readonly onRetry: () => void }): ReactElement {
  const { error } = props;
  return (
    <div className="notice" role="alert">
      <h2>{safeText(error.message)}</h2>
      <p className="dim">{fixOf(error)}</p>
      <p>
        <button type="button" onClick={props.onRetry}>
          Try again
        </button>
      </p>
    </div>
  );
}

/** Shows an error in one line, above content that is still valid. */
export function ErrorBanner(props: { readonly error: Error; readonly onRetry?: () => void }): ReactElement {
  return (
    <div className="banner bad" role="alert">
      <span>
        {safeText(props.error.message)} {fixOf(props.error)}
      </span>
      {props.onRetry === undefined ? null : (
        <button type="button" onClick={props.onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** States what cannot be read and why. Once dismissed, it stays away until the browser tab is closed. */
export function DamageNotice(props: { readonly place?: string; readonly text: string }): ReactElement | null {
  const text = safeText(props.text);
  const key = `coxswain damage ${props.place ?? ''} ${text}`;
  const [dismissedKey, setDismissedKey] = useState<string>();
  if (dismissedKey === key || sessionStorage.getItem(key) !== null) return null;
  return (
    <div className="banner" role="status">
      <span>
        {props.place === undefined ? null : <b>{safeText(props.place)}</b>} {text}
      </span>
      <button
        type="button"
        onClick={() => {
          sessionStorage.setItem(key, '');
          setDismissedKey(key);
        }}
      >
        Dismiss
      </button>
    </div>
  );
}

/** Shows the problems of all sources. */
export function SourceProblems({ sources }: { readonly sources: readonly SourceRow[] }): ReactElement {
  return (
    <>
      {sources.map(({ id, kind, path, problem }) =>
        // An unreadable line of a file is skipped, and the rest is shown.
        problem === undefined ? null : kind === 'files' || kind === 'sessions' ? (
          <DamageNotice key={id} place={path} text={problem.message} />
        ) : (
          <div key={id} className="banner bad" role="alert">
            <b>{path}</b> {problem.message} {problem.fix}
          </div>
        ),
      )}
    </>
  );
}

function fixOf(error: Error): string {
  return error instanceof ApiError && error.fix !== undefined ? safeText(error.fix) : '';
}
