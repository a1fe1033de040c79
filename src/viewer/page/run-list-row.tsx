import { memo, type ReactElement } from 'react';

import type { Label } from '../../lab/labels.ts';
import type { ListedRow } from '../server/api-shapes.ts';
import { findWords } from '../server/run-query.ts';
import type { RunFilters } from './api.ts';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { countOf, countText, periodText, usdText } from '../../core/base/number-text.ts';
import { present } from '../../core/base/json.ts';
import { wasOpened } from './opened-runs.ts';
import { dayText, fullTimeText, spanText } from './number-text.ts';
import { patternName } from './advice-words.ts';
import { runKey, type Route } from './route.ts';
import type { PlacedRun } from './run-tree.ts';
import { idTail, safeLine } from './safe-text.ts';
import { sharedRun } from './shared-runs.ts';
import { labelsOf, labelText } from './use-labels.ts';
import { goTo } from './use-route.ts';

const LEAD_CHARS = 10;
const MAX_ID_CHARS = 14;
const MAX_PATTERNS = 2;

export const RunListRow = memo(function RunListRow(props: {
  readonly place: PlacedRun;
  readonly top: number;
  readonly isCurrent: boolean;
  readonly labels: readonly Label[];
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
          <Link className={wasOpened(run) ? 'is-opened' : ''} to={to}>
            {safeLine(run.title)}
          </Link>
        </span>
        <span className="dim second-line">
          <PatternTags run={run} wanted={props.filters.pattern} />
          {label === undefined ? null : <span className="tag label">labelled {label}</span>}
          {run.found === undefined ? (
            <span className="words">{lineOf(run)}</span>
          ) : (
            <span className="words mono">… {fromMatch(safeLine(run.found.snippet), props.filters.q)} …</span>
          )}
          <span className="mono run-id" title={safeLine(run.runId)}>
            {idTail(run.runId, MAX_ID_CHARS)}
          </span>
          {run.modelId === undefined ? null : (
            <FilterTag filters={{ model: run.modelId }}>{safeLine(run.modelId)}</FilterTag>
          )}
        </span>
      </div>
      <div className="run-outcome" role="cell" title={state.text}>
        <FilterTag className={state.className} filters={state.filters}>
          {state.text}
        </FilterTag>
        <span className="dim reason">{state.reason}</span>
      </div>
      <div role="cell" title={fullTimeText(run.startedAtMs)}>
        {dayText(run.startedAtMs)}
        <span className="dim below-line">{run.startedAtMs === 0 ? '—' : spanText(run.lastAtMs - run.startedAtMs)}</span>
      </div>
      <div className="number" role="cell">
        {countOf(run.calls, 'call')}
        <span className={run.errors > 0 ? 'bad below-line' : 'dim below-line'}>{countText(run.errors)} failed</span>
      </div>
      <div className="number cost" role="cell">
        {run.costUsd === undefined ? '—' : usdText(run.costUsd)}
        <span className="dim below-line">
          {run.adviceCount === undefined ? '…' : <AdviceCount all={run.adviceCount} unsaid={run.adviceUnsaid ?? 0} />}
        </span>
      </div>
      <div role="cell">
        <Link to={props.filters.compare === undefined ? choiceFor(run) : to} title="Compare with another run">
          <span aria-hidden="true">⇄</span>
          <span className="visually-hidden">Compare with another run</span>
        </Link>
      </div>
    </div>
  );
});

function lineOf({ changed, check, childCount, lastWords, wasted }: ListedRow): string {
  const more = changed === undefined ? 0 : changed.count - changed.names.length;
  const parts = [
    ...(changed === undefined
      ? []
      : [`${changed.names.map(baseName).join(', ')}${more > 0 ? ` +${countText(more)}` : ''}`]),
    ...(check === undefined ? [] : [`${check.failed ? '✗' : '✓'} ${check.command}`]),
    ...(wasted === undefined ? [] : [`${countOf(wasted.calls, 'call')} while a warning stood`]),
    ...(childCount > 0 ? [`${countText(childCount)} below`] : []),
    ...(lastWords === undefined ? [] : [lastWords]),
  ];
  return safeLine(parts.join(' · '));
}

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** Returns the comparison with the run that is being compared, else the route of a run at what the filters select: its first search hit, else the call at which the pattern was flagged. */
export function runRouteOf(run: ListedRow, filters: RunFilters): Route {
  const { compare, pattern, q: find, status } = filters;
  if (compare !== undefined) return { page: 'compare', a: compare, b: runKey(run) };
  const { found, patternCalls = [], patterns = [], runId, source, wasted } = run;
  if (status === 'unlabelled') return { page: 'run', run: { source, runId }, label: filters };
  const flagged = pattern === undefined ? -1 : patterns.indexOf(pattern);
  const call = flagged >= 0 ? patternCalls[flagged] : pattern === undefined ? undefined : wasted?.call;
  return { page: 'run', run: { source, runId }, ...present({ at: found?.seq, call, find }) };
}

/** Returns the list in which the run to compare with is chosen. It begins with the runs of the same task. */
export function choiceFor(run: ListedRow): Route {
  return { page: 'runs', filters: present({ compare: runKey(run), task: run.task }) };
}

/** The list of all runs, from which the run to compare with may still be chosen. */
export function unfiltered({ compare }: RunFilters): Route {
  return { page: 'runs', filters: present({ compare }) };
}

/** Returns the snippet from shortly before its first search word, because a row shows only its beginning. */
function fromMatch(snippet: string, find = ''): string {
  const text = snippet.toLowerCase();
  const places = findWords(find).map((word) => text.indexOf(word));
  const firstIndex = Math.min(...places.filter((at) => at >= 0));
  return Number.isFinite(firstIndex) ? snippet.slice(Math.max(0, firstIndex - LEAD_CHARS)).toWellFormed() : snippet;
}

function PatternTags(props: { readonly run: ListedRow; readonly wanted: string | undefined }): ReactElement | null {
  const { run, wanted } = props;
  const kinds = (run.patterns ?? []).toSorted((a, b) => Number(b === wanted) - Number(a === wanted));
  const otherKinds = kinds.slice(MAX_PATTERNS).map(patternName);
  if (kinds.length === 0) return null;
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
  if (all === 0) return <>no advice</>;
  if (unsaid === 0) return <>{countText(all)} advice</>;
  return (
    <span title={`${countText(all - unsaid)} said, ${countText(unsaid)} withheld, shadowed, not delivered or unknown`}>
      {countText(all - unsaid)} advice <span>+{countText(unsaid)}</span>
      <span className="visually-hidden"> not said</span>
    </span>
  );
}

/** The state of a run in words. Every place of the page uses it, so no two places contradict each other. */
export interface RunStateWords {
  readonly className: '' | 'good' | 'bad' | 'live' | 'stuck';
  readonly text: string;
  /** Why, in one clause; empty if the text says all. */
  readonly reason: string;
  readonly filters: RunFilters;
}

export function stateOf(run: ListedRow): RunStateWords {
  const { evidence = '', outcome, pendingCalls, success, verdict } = run;
  const state = (
    className: RunStateWords['className'],
    text: string,
    status: string,
    reason = safeLine(evidence),
  ): RunStateWords => ({ className, text, reason, filters: { status } });
  if (run.problem !== undefined) return state('bad', 'Damaged', 'damaged', safeLine(run.problem));
  const silence = silenceOf(run);
  if (run.group === 'running') {
    const text = pendingCalls > 0 ? `in a call${silence}` : `last record${silence === '' ? ' just now' : silence}`;
    return state('live', 'At work', 'running', safeLine(run.pressure ?? '') || text);
  }
  if (success === true || verdict === 'worked') return state('good', 'Succeeded', 'success');
  if (success === false || verdict === 'failed') return state('bad', 'Failed', 'failed');
  if (verdict === 'cut_off') return state('stuck', 'Cut off', 'failed');
  if (verdict === 'waiting') return state('stuck', 'Waiting', 'needs');
  if (verdict === 'stopped') return state('', 'Stopped', 'ended');
  if (verdict === 'answered') return state('', 'Answered', 'done');
  if (outcome !== undefined) return state('', 'Ended', 'ended');
  const text = pendingCalls > 0 ? 'Silent in a call' : 'No end';
  return state('stuck', text, 'open', safeLine(evidence) || `silent${silence}`);
}

/** For how long the run has had no record, such as ` for 12 min`; empty within a minute. */
function silenceOf({ lastAtMs }: ListedRow): string {
  const silentMs = (sharedRun?.judgedAtMs ?? Date.now()) - lastAtMs;
  return lastAtMs > 0 && silentMs >= 60_000 ? ` for ${periodText(silentMs)}` : '';
}
