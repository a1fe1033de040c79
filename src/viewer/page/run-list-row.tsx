import { memo, type ReactElement } from 'react';

import type { LabelRow, ListedRow } from '../server/api-shapes.ts';
import { findWords } from '../server/find-words.ts';
import type { RunFilters } from './api.ts';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { countText } from '../../core/base/number-text.ts';
import { present } from '../../core/base/present.ts';
import { inWords } from '../../core/records/words.ts';
import { verdictOf } from '../../core/facts/run-verdict.ts';
import { costText, dayText, fullTimeText, spanText } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { runKey, type Route } from './route.ts';
import { RunStrip } from './run-strip.tsx';
import type { PlacedRun } from './run-tree.ts';
import { idTail, safeLine } from './safe-text.ts';
import { labelsOf, labelText } from './use-labels.ts';
import { goTo } from './use-route.ts';

const LEAD_CHARS = 10;
const MAX_ID_CHARS = 28;
/** Outcomes that do not say how a run ended. Its success does. */
const PLAIN_ENDS: ReadonlySet<string> = new Set(['', 'ended', 'completed', 'finished']);
/** Number of patterns that fit into a row. */
const MAX_PATTERNS = 2;

/** Renders one run of the list. */
export const RunListRow = memo(function RunListRow(props: {
  readonly place: PlacedRun;
  readonly top: number;
  readonly isCurrent: boolean;
  readonly labels: readonly LabelRow[];
  readonly filters: RunFilters;
  readonly onToggle: (key: string) => void;
}): ReactElement {
  const { run, depth, children, isOpen } = props.place;
  const to = runRouteOf(run, props.filters);
  const state = stateOf(run);
  const label = labelText(labelsOf(run.runId, props.labels), run.runId);
  const classes = ['run-grid run-row', depth > 0 ? 'is-child' : '', props.isCurrent ? 'is-current' : ''];
  return (
    <div
      className={classes.join(' ')}
      role="row"
      // The style sheet turns the depth into an indent. The cast is safe, because the depth is a computed number.
      style={{ transform: `translateY(${props.top}px)`, ['--depth' as string]: depth }}
      onClick={() => goTo(to)}
    >
      <div className="choose" role="cell" onClick={(event) => event.stopPropagation()}>
        <span className={`dot ${state.className}`} title={state.text} />
        <span className="visually-hidden">{state.text}</span>
      </div>
      <div className="run-name" role="cell">
        <span>
          {children > 0 ? (
            <button
              type="button"
              className="link tree"
              aria-expanded={isOpen}
              aria-label={isOpen ? 'Hide child runs' : 'Show child runs'}
              onClick={(event) => {
                event.stopPropagation();
                props.onToggle(runKey(run));
              }}
            >
              {isOpen ? '▾' : '▸'}
            </button>
          ) : null}
          <Link to={to}>{safeLine(run.title)}</Link>
        </span>
        <span className="dim">
          {depth > 0 || run.parentRunId === undefined ? '' : 'child · '}
          {run.found === undefined ? (
            <span className="mono" title={safeLine(run.runId)}>
              {idTail(run.runId, MAX_ID_CHARS)}
            </span>
          ) : (
            <span className="mono">… {fromMatch(safeLine(run.found.snippet), props.filters.q)} …</span>
          )}
          {run.modelId === undefined ? null : (
            <FilterTag filters={{ model: run.modelId }}>{safeLine(run.modelId)}</FilterTag>
          )}
          {run.success !== undefined && run.problem === undefined && PLAIN_ENDS.has(run.outcome ?? '') ? (
            <FilterTag className={state.className} filters={state.filters}>
              {state.text.toLowerCase()}
            </FilterTag>
          ) : run.outcome === undefined ? null : (
            <FilterTag filters={{ outcome: run.outcome }}>{safeLine(inWords('outcome', run.outcome))}</FilterTag>
          )}
          {label === undefined ? null : <span className="tag label">labelled {label}</span>}
          {run.childCount > 0 ? ` · ${run.childCount} below` : ''}
        </span>
      </div>
      <div role="cell" title={fullTimeText(run.startedAtMs)}>
        {dayText(run.startedAtMs)}
      </div>
      <div className="lasted dim" role="cell">
        {run.startedAtMs === 0 ? '—' : spanText(run.lastAtMs - run.startedAtMs)}
      </div>
      <div className="number" role="cell">
        {countText(run.calls)}
      </div>
      <div
        className={run.errors > 0 ? 'number bad' : 'number dim'}
        role="cell"
        title={run.refused === undefined ? undefined : `and ${countText(run.refused)} refused`}
      >
        {countText(run.errors)}
      </div>
      <div
        className="number wasted"
        role="cell"
        title={
          run.wasted === undefined ? undefined : `Calls after the first warning, which came at call ${run.wasted.call}`
        }
      >
        {run.extras ? countText(run.wasted?.calls ?? 0) : <Later />}
      </div>
      <div className="number" role="cell">
        {run.adviceCount === undefined ? (
          <Later />
        ) : (
          <AdviceCount all={run.adviceCount} unsaid={run.adviceUnsaid ?? 0} />
        )}
      </div>
      <div className="number cost dim" role="cell">
        {run.costUsd === undefined ? '—' : costText(run.costUsd)}
      </div>
      <div className="patterns" role="cell">
        <PatternTags run={run} wanted={props.filters.pattern} />
      </div>
      <div className="glance" role="cell">
        {run.strip === undefined ? null : <RunStrip strip={run.strip} />}
      </div>
      <div role="cell">
        <Link to={{ page: 'compare', a: runKey(run) }} title="Compare with another run">
          <span aria-hidden="true">⇄</span>
          <span className="visually-hidden">Compare with another run</span>
        </Link>
      </div>
    </div>
  );
});

/** Returns the route of a run at what the filters select: its first search hit, else the call at which the pattern was flagged. */
export function runRouteOf(run: ListedRow, { pattern, q: find, stuck }: RunFilters): Route {
  const { found, patternCalls = [], patterns = [], runId, source, wasted } = run;
  const flagged = pattern === undefined ? -1 : patterns.indexOf(pattern);
  const call = flagged >= 0 ? patternCalls[flagged] : (pattern ?? stuck) === undefined ? undefined : wasted?.call;
  if (found === undefined && call !== undefined) return { page: 'moment', runId, source, call };
  return { page: 'run', run: { source, runId }, ...present({ at: found?.seq, find }) };
}

/** Returns the snippet from shortly before its first search word, because a row shows only its beginning. */
function fromMatch(snippet: string, find = ''): string {
  const text = snippet.toLowerCase();
  const places = findWords(find).map((word) => text.indexOf(word));
  const firstIndex = Math.min(...places.filter((at) => at >= 0));
  return Number.isFinite(firstIndex) ? snippet.slice(Math.max(0, firstIndex - LEAD_CHARS)).toWellFormed() : snippet;
}

/** Shows the patterns of a run, the pattern of the filter first. */
function PatternTags({ run, wanted }: { readonly run: ListedRow; readonly wanted: string | undefined }): ReactElement {
  const kinds = (run.patterns ?? []).toSorted((a, b) => Number(b === wanted) - Number(a === wanted));
  const otherKinds = kinds.slice(MAX_PATTERNS).map(patternName);
  return (
    <span className="tags">
      {kinds.slice(0, MAX_PATTERNS).map((kind) => (
        <FilterTag key={kind} className={run.stuck === true ? 'stuck' : ''} filters={{ pattern: kind }}>
          {patternName(kind)}
        </FilterTag>
      ))}
      {otherKinds.length === 0 ? null : (
        <span className="dim" title={otherKinds.join(', ')}>
          +{otherKinds.length}
        </span>
      )}
    </span>
  );
}

/** Shows how many advice records were delivered, and separately how many were withheld, shadowed, not delivered or unknown. */
function AdviceCount({ all, unsaid }: { readonly all: number; readonly unsaid: number }): ReactElement {
  if (unsaid === 0) return <>{countText(all)}</>;
  return (
    <span title={`${countText(all - unsaid)} said, ${countText(unsaid)} withheld, shadowed, not delivered or unknown`}>
      {countText(all - unsaid)} <span className="dim">+{countText(unsaid)}</span>
      <span className="visually-hidden"> not said</span>
    </span>
  );
}

function Later(): ReactElement {
  return (
    <span className="dim" title="Not read yet">
      …
    </span>
  );
}

/** Returns the state of a run: the colour of its dot and its text. */
export function stateOf(run: ListedRow): {
  readonly className: '' | 'good' | 'bad' | 'live';
  readonly text: string;
  /** Filters that select the runs in the same state. */
  readonly filters: RunFilters;
} {
  if (run.problem !== undefined)
    return { className: 'bad', text: `Damaged: ${safeLine(run.problem)}`, filters: { status: 'damaged' } };
  if (run.live) return { className: 'live', text: 'At work', filters: { status: 'open' } };
  if (run.success === true || run.verdict === 'worked')
    return { className: 'good', text: 'Succeeded', filters: { status: 'success' } };
  if (run.success === false || run.verdict === 'failed')
    return { className: 'bad', text: 'Failed', filters: { status: 'failed' } };
  if (run.outcome !== undefined) return { className: '', text: 'Ended', filters: { status: 'ended' } };
  const silentMs = run.lastAtMs > 0 ? Date.now() - run.lastAtMs : undefined;
  const { evidence } = verdictOf(undefined, [], present({ silentMs, waitsFor: run.waitsFor }));
  return { className: '', text: capitalised(evidence), filters: { status: 'open' } };
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
