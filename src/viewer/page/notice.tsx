import { type ReactElement, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import { safeText } from '../../core/base/printable.ts';
import type { ListedRow, SourceRow } from '../server/api-shapes.ts';
import { ApiError } from './api.ts';
import type { RecordPages } from './record-pages.ts';

export function Notice(props: {
  readonly title: string;
  readonly role?: 'status' | 'alert';
  readonly children?: ReactNode;
}): ReactElement {
  return (
    <div className="notice" role={props.role ?? 'status'}>
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** Pause between two attempts while files are being read. */
const READING_MS = 300;

export function ErrorNotice(props: { readonly error: Error; readonly onRetry: () => void }): ReactElement {
  const { error, onRetry } = props;
  const isReading = error instanceof ApiError && error.code === 'still-reading';
  useEffect(() => {
    if (!isReading) return undefined;
    const timer = setTimeout(onRetry, READING_MS);
    return () => clearTimeout(timer);
  }, [error, isReading, onRetry]);
  return (
    <Notice title={safeText(error.message)} role={isReading ? 'status' : 'alert'}>
      <p className="dim">{fixOf(error)}</p>
      {isReading ? null : (
        <p>
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        </p>
      )}
    </Notice>
  );
}

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

function DamageNotice(props: { readonly place?: string; readonly text: string }): ReactElement | null {
  const text = safeText(props.text);
  const key = `coxswain damage ${props.place ?? ''} ${text}`;
  const [dismissedKey, setDismissedKey] = useState<string>();
  if (dismissedKey === key || sessionStorage.getItem(key) !== null) return null;
  return (
    <div className="banner" role="status">
      <span className="damage" title={text}>
        {props.place === undefined ? text : text.replaceAll(`${safeText(props.place)}/`, '')}
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

export function RunDamage(props: { readonly pages: RecordPages; readonly run: ListedRow }): ReactElement | null {
  const { pages, run } = props;
  const damage = useSyncExternalStore(pages.subscribe, () => pages.damage);
  if (damage !== undefined) {
    const { problem, seq } = damage;
    const records = `${countText(seq)} of ${countOf(pages.lastSeq + 1, 'record')}`;
    return <DamageNotice text={`The run is shown up to its first damaged record (${records}): ${problem.message}`} />;
  }
  return run.problem === undefined ? null : (
    <DamageNotice text={`This run cannot be read to its end: ${run.problem}`} />
  );
}
