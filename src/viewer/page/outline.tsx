import { useMemo, useSyncExternalStore, type ReactElement, type ReactNode } from 'react';

import { countOf, countText, usdText } from '../../core/base/number-text.ts';
import { nextText } from '../../core/facts/followed-text.ts';
import type { AdviceMark, ChangedFile, ListedRow, PatternSpan, RunAnswer, RunRow } from '../server/api-shapes.ts';
import { FATE_CLASSES, patternName } from './advice-words.ts';
import { Link } from './link.tsx';
import { runKey } from './route.ts';
import type { Rows } from './rows.ts';
import { baseName, runRouteOf, stateOf } from './run-list-row.tsx';
import { sharedRun } from './shared-runs.ts';
import { safeLine } from './safe-text.ts';

const MAX_ENTRIES = 100;
const DEAREST = 5;

/** The width from which the style sheet shows the outline beside the conversation. */
const besideConversation = matchMedia('(min-width: 50.01rem)');

/** True if the parts of the outline start open: they are beside the conversation, not above it. */
function useIsBeside(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      besideConversation.addEventListener('change', onChange);
      return () => besideConversation.removeEventListener('change', onChange);
    },
    () => besideConversation.matches,
  );
}

export type Noticed = { readonly mark: AdviceMark } | { readonly span: PatternSpan } | { readonly state: true };

export function Outline(props: {
  readonly answer: RunAnswer;
  readonly rows: Rows;
  readonly onGo: (seq: number) => void;
  readonly onNoticed: (noticed: Noticed) => void;
}): ReactElement {
  const { answer, onGo, onNoticed, rows } = props;
  const { advice, adviceLeftOut, files, lastCheck, patterns, patternsLeftOut, prompts } = answer.overview;
  const dearest = useMemo(() => dearestOf(rows.list), [rows]);
  const family = [...(answer.parent === undefined ? [] : [answer.parent]), ...answer.children];
  return (
    <nav className="outline" aria-label="Outline of the run">
      <Part name="Prompts" of={prompts}>
        {({ seq, text }) => (
          <li key={seq}>
            <Entry onClick={() => onGo(seq)}>{safeLine(text)}</Entry>
          </li>
        )}
      </Part>
      <Part name="Changed files" of={files}>
        {(file) => (
          <li key={file.path}>
            <FileEntry file={file} onGo={onGo} />
          </li>
        )}
      </Part>
      {lastCheck === undefined ? null : (
        <section>
          <h2>Last check</h2>
          <Entry at={lastCheck.call} onClick={() => onGo(lastCheck.seq)}>
            <span className={lastCheck.failed ? 'bad' : 'good'}>{lastCheck.failed ? '✗' : '✓'}</span>{' '}
            <code>{safeLine(lastCheck.command)}</code>
          </Entry>
        </section>
      )}
      <Part name="Patterns" of={patterns} leftOut={patternsLeftOut}>
        {(span) => (
          <li key={`${span.identity} ${span.fromSeq}`}>
            <Entry at={span.flaggedCall ?? span.fromCall} onClick={() => onNoticed({ span })}>
              <span className={span.stuck ? 'mark stuck' : 'mark'} /> {patternName(span.kind)}
            </Entry>
          </li>
        )}
      </Part>
      <Part name="Advice" of={advice} leftOut={adviceLeftOut}>
        {(mark) => (
          <li key={mark.seq}>
            <Entry at={mark.callsBefore} onClick={() => onNoticed({ mark })}>
              <span className="mark advice" /> {safeLine(mark.provider)},{' '}
              <span className={FATE_CLASSES[mark.nextCall]}>{nextText(mark.nextCall)}</span>
            </Entry>
          </li>
        )}
      </Part>
      <Part name="Dearest steps" of={dearest}>
        {({ call, costUsd = 0, seq }) => (
          <li key={seq}>
            <Entry {...placeOf(call ?? rows.callAt(seq) + 1, answer.run.calls)} onClick={() => onGo(seq)}>
              {usdText(costUsd)}
            </Entry>
          </li>
        )}
      </Part>
      <Part name="Runs" of={family}>
        {(run) => (
          <li key={runKey(run)}>
            <RunEntry run={run} isParent={run === answer.parent} />
          </li>
        )}
      </Part>
      {sharedRun === undefined ? (
        <section>
          <Entry onClick={() => onNoticed({ state: true })}>State at a call…</Entry>
        </section>
      ) : null}
    </nav>
  );
}

/** The place of a call; none for the answer after the last call. */
function placeOf(call: number, calls: number): { readonly at?: number } {
  return call <= calls ? { at: call } : {};
}

function dearestOf(rows: readonly RunRow[]): readonly RunRow[] {
  const paid = rows.filter(({ costUsd }) => costUsd !== undefined);
  return paid.toSorted((a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0)).slice(0, DEAREST);
}

function Part<Value>(props: {
  readonly name: string;
  readonly of: readonly Value[];
  readonly leftOut?: number;
  readonly children: (value: Value) => ReactElement;
}): ReactElement | null {
  const { leftOut = 0, name, of } = props;
  const isBeside = useIsBeside();
  if (of.length === 0) return null;
  const hidden = leftOut + Math.max(0, of.length - MAX_ENTRIES);
  return (
    <details open={isBeside}>
      <summary>
        <h2>
          {name} <small>{countText(of.length + leftOut)}</small>
        </h2>
      </summary>
      <ul>{of.slice(0, MAX_ENTRIES).map(props.children)}</ul>
      {hidden === 0 ? null : <p className="dim">{countText(hidden)} more</p>}
    </details>
  );
}

function Entry(props: {
  readonly onClick: () => void;
  readonly at?: number;
  readonly className?: string;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactElement {
  const { at, className = '' } = props;
  return (
    <button type="button" className={`entry ${className}`} title={props.title} onClick={props.onClick}>
      <span>{props.children}</span>
      {at === undefined ? null : <small>at {countText(at)}</small>}
    </button>
  );
}

function FileEntry(props: { readonly file: ChangedFile; readonly onGo: (seq: number) => void }): ReactElement {
  const { onGo } = props;
  const { firstEdit, firstFailure, path } = props.file;
  return (
    <div className="file-entry">
      <Entry at={firstEdit.call} title={safeLine(path)} onClick={() => onGo(firstEdit.seq)}>
        {safeLine(baseName(path))}
      </Entry>
      {firstFailure === undefined ? null : (
        <Entry className="bad" title="The first check that failed after it" onClick={() => onGo(firstFailure.seq)}>
          ✗ {countText(firstFailure.call)}
        </Entry>
      )}
    </div>
  );
}

function RunEntry({ isParent, run }: { readonly run: ListedRow; readonly isParent: boolean }): ReactElement {
  return (
    <Link to={runRouteOf(run, {})} className="entry">
      <span>
        {isParent ? '↑ ' : ''}
        {safeLine(run.title)}
      </span>
      <small>
        {stateOf(run).text.toLowerCase()}, {countOf(run.calls, 'call')}
      </small>
    </Link>
  );
}
