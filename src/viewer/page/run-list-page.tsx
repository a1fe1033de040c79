import { useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, type ReactElement, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';

import type { Label } from '../../lab/labels.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { countOf, countText, shareText, usdText } from '../../core/base/number-text.ts';
import type { ListedRow, RunGroup, SourceRow, TaskGroup, FailingCause } from '../server/api-shapes.ts';
import { getLabels, getTasks, type RunFilters, unreachable, getFailing } from './api.ts';
import { Link } from './link.tsx';
import { ErrorBanner, ErrorNotice, Notice, SourceProblems } from './notice.tsx';
import { patternName } from './advice-words.ts';
import { formatRoute, type Route, runKey } from './route.ts';
import { RunFiltersBar } from './run-filters-bar.tsx';
import { RunListRow, runRouteOf, unfiltered } from './run-list-row.tsx';
import { type PlacedRun, placeRuns } from './run-tree.ts';
import { safeLine } from './safe-text.ts';
import { totalsText } from './totals-text.ts';
import { useLoaded } from './use-loaded.ts';
import { useKeys } from './use-keys.ts';
import { goTo } from './use-route.ts';
import { type RunListState, useRunList } from './use-run-list.ts';

const ROW_PX = 52;
const HEADING_PX = 32;
const GROUP_WORDS: Readonly<Record<RunGroup, string>> = { needs: 'Needs you', running: 'Running', done: 'Done' };
const places = new LruMap<{ readonly top: number; readonly current: number }>(20);
const NO_LABELS: readonly Label[] = [];
/** The next page is requested when the view is this many rows from the end. */
const AHEAD = 60;

export function RunListPage(props: {
  readonly filters: RunFilters;
  readonly sources: readonly SourceRow[];
  readonly onSource: () => void;
}): ReactElement {
  const { filters, sources } = props;
  const list = useRunList(filters, sources, props.onSource);
  const wasListed = useRef(false);
  wasListed.current ||= isListed(list);
  useSingleRun(list, sources);
  useAnyTask(filters, list);
  return (
    <div className="runs">
      <div>
        <h1 className="visually-hidden">Runs</h1>
        <RunFiltersBar
          filters={filters}
          sources={sources}
          facets={list.sums?.facets}
          status={totalsText(list.sums, sources)}
        >
          <GroupLinks filters={filters} />
        </RunFiltersBar>
        <SourceProblems sources={sources} />
        {filters.compare === undefined ? null : (
          <div className="banner" role="status">
            Choose the run to compare with {safeLine(filters.compare.replace(/^[^/]*\//, ''))}.
            {filters.task === undefined ? null : <Link to={unfiltered(filters)}>All runs, of any task</Link>}
          </div>
        )}
        {list.error !== undefined && list.rows.length > 0 ? (
          <ErrorBanner error={list.error} onRetry={list.reload} />
        ) : null}
        {list.isLost ? <ErrorBanner error={unreachable()} /> : null}
        {list.arrived > 0 ? (
          <div className="banner" role="status">
            {countOf(list.arrived, 'run')} appeared since.
            <button type="button" onClick={list.reload}>
              Show
            </button>
          </div>
        ) : null}
      </div>
      {filters.group === 'task' || filters.group === 'pattern' ? (
        <TaskTable filters={filters} />
      ) : (
        <Rows key={formatRoute({ page: 'runs', filters })} list={list} filters={filters} sources={sources} />
      )}
      {wasListed.current && Object.keys(filters).every((name) => name === 'sort') ? <FailingCauses /> : null}
    </div>
  );
}

/** True when the server has read all runs, so that a further question does not delay them. */
function isListed({ isLoading, rows, sums }: RunListState): boolean {
  return !isLoading && rows.length > 0 && sums !== undefined && sums.pending + sums.notLookedAt === 0;
}

let isFirstList = true;

/** Opens the only run of the sources directly, once: the list remains reachable. */
function useSingleRun({ isLoading, rows, sums }: RunListState, sources: readonly SourceRow[]): void {
  const pending = sums?.pending ?? 0;
  useEffect(() => {
    if (!isFirstList) return;
    const isRead = !isLoading && pending === 0 && sources.every(({ problem }) => problem === undefined);
    if (location.search !== '' || rows.length > 1) isFirstList = false;
    const [run] = rows;
    if (!isFirstList || !isRead || run === undefined) return;
    isFirstList = false;
    goTo({ page: 'run', run: { source: run.source, runId: run.runId } }, { replace: true });
  }, [isLoading, pending, rows, sources]);
}

/** Offers all runs for a comparison if no other run has the task of the run. */
function useAnyTask(filters: RunFilters, { error, isLoading, rows, sums }: RunListState): void {
  const names = Object.keys(filters);
  const isOfTask = names.length === 2 && names.includes('compare') && names.includes('task');
  const isEmpty = error === undefined && !isLoading && sums?.pending === 0 && rows.length === 0;
  useEffect(() => {
    if (isOfTask && isEmpty) goTo(unfiltered(filters), { replace: true });
  }, [filters, isOfTask, isEmpty]);
}

const GROUPINGS = [
  ['task', 'By task'],
  ['pattern', 'By pattern'],
] as const;

function GroupLinks({ filters }: { readonly filters: RunFilters }): ReactElement {
  // Runs and groups have different orders.
  const { group, sort: _sort, ...rest } = filters;
  return (
    <>
      {GROUPINGS.map(([name, words]) => (
        <Link
          key={name}
          className="button"
          isCurrent={group === name}
          to={{ page: 'runs', filters: group === name ? rest : { ...rest, group: name } }}
        >
          {words}
        </Link>
      ))}
    </>
  );
}

interface ListProps {
  readonly list: RunListState;
  readonly filters: RunFilters;
  readonly sources: readonly SourceRow[];
}

function Rows(props: ListProps): ReactElement {
  const { list, filters } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [closedGroups, setClosedGroups] = useState<ReadonlySet<string>>(new Set());
  const leftAt = places.get(formatRoute({ page: 'runs', filters }));
  const [current, setCurrent] = useState(leftAt?.current ?? 0);
  const { value: labelled } = useLoaded('labels', getLabels);
  const labels = labelled?.labels ?? NO_LABELS;
  const isGrouped = (filters.sort ?? 'group') === 'group';
  const isTree = filters.sort === undefined || filters.sort === 'group' || filters.sort === 'started';
  const placed = useMemo(
    () =>
      isTree
        ? placeRuns(isGrouped ? inGroups(list.rows) : list.rows, closedGroups)
        : list.rows.map((run) => ({ run, depth: 0, children: 0, isOpen: true })),
    [list.rows, closedGroups, isTree, isGrouped],
  );
  // The first run of each group carries the heading of the group.
  const headingOf = (index: number): RunGroup | undefined => {
    if (!isGrouped || placed[index]?.depth !== 0) return undefined;
    const group = placed[index]?.run.group;
    const before = placed.slice(0, index).findLast(({ depth }) => depth === 0)?.run.group;
    return group === before ? undefined : group;
  };
  const virtual = useVirtualizer({
    count: placed.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ROW_PX + (headingOf(index) === undefined ? 0 : HEADING_PX),
    overscan: 8,
    initialOffset: leftAt?.top ?? 0,
  });
  const leaving = useRef(() => {});
  leaving.current = () => {
    const top = scroller.current?.scrollTop ?? 0;
    places.set(formatRoute({ page: 'runs', filters }), { top, current });
  };
  useLayoutEffect(() => () => leaving.current(), []);
  const items = virtual.getVirtualItems();
  const [firstIndex, lastIndex] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const { more, complete } = list;
  useEffect(() => {
    if (lastIndex >= placed.length - AHEAD) more();
    complete(placed.slice(firstIndex, lastIndex + 1).map(({ run }) => run));
  }, [firstIndex, lastIndex, placed, more, complete]);
  const toggle = useCallback((key: string) => setClosedGroups((before) => toggleKey(before, key)), []);
  useListKeys(placed, filters, current, (index) => {
    setCurrent(index);
    virtual.scrollToIndex(index, { align: 'auto' });
  });

  const nothing = placed.length > 0 ? undefined : <Nothing {...props} />;
  return (
    <>
      <Orders filters={filters} />
      <div ref={scroller} className="run-scroll" tabIndex={0} role="region" aria-label="List of runs">
        {list.error !== undefined && placed.length === 0 ? (
          <ErrorNotice error={list.error} onRetry={list.reload} />
        ) : (
          nothing
        )}
        <div style={{ position: 'relative', height: virtual.getTotalSize() }} role="table" aria-label="Runs">
          {items.map((item) => {
            const place = placed[item.index];
            if (place === undefined) return null;
            const group = headingOf(item.index);
            return (
              <Fragment key={runKey(place.run)}>
                {group === undefined ? null : (
                  <div className="run-group" role="row" style={{ transform: `translateY(${item.start}px)` }}>
                    <b role="cell">
                      {GROUP_WORDS[group]} <span className="dim">{countText(list.sums?.groups[group] ?? 0)}</span>
                    </b>
                  </div>
                )}
                <RunListRow
                  place={place}
                  top={item.start + (group === undefined ? 0 : HEADING_PX)}
                  isCurrent={item.index === current}
                  labels={labels}
                  filters={filters}
                  onToggle={toggle}
                />
              </Fragment>
            );
          })}
        </div>
      </div>
    </>
  );
}

const ORDERS = [
  ['group', 'What needs you'],
  ['started', 'Newest'],
  ['cost', 'Dearest'],
  ['calls', 'Most calls'],
  ['errors', 'Most failures'],
  ['wasted', 'Most after a warning'],
  ['lasted', 'Longest'],
] as const;

function Orders({ filters: { sort = 'group', ...rest } }: { readonly filters: RunFilters }): ReactElement {
  return (
    <div className="run-head" role="group" aria-label="Order">
      {ORDERS.map(([name, label]) => (
        <Link key={name} isCurrent={sort === name} to={{ page: 'runs', filters: { ...rest, sort: name } }}>
          {label}
        </Link>
      ))}
    </div>
  );
}

/** A run changes its group while the list is shown. It then moves to that group; the order within the groups stays. */
function inGroups(rows: readonly ListedRow[]): readonly ListedRow[] {
  const groups = Object.keys(GROUP_WORDS);
  return rows.toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
}

function toggleKey(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const toggledKeys = new Set(keys);
  if (!toggledKeys.delete(key)) toggledKeys.add(key);
  return toggledKeys;
}

function Nothing(props: ListProps): ReactElement {
  const { isLoading, sums } = props.list;
  const isPending = isLoading || (sums?.pending ?? 0) > 0;
  const reading = props.sources.find((source) => source.indexing !== undefined);
  if (Object.keys(props.filters).some((name) => name !== 'sort')) {
    if (isPending) return <Notice title="Searching…" />;
    return (
      <Notice title="No run matches">
        <p className="dim">The search covers all messages, calls and results.</p>
        <p>
          <button type="button" onClick={() => goTo(unfiltered(props.filters))}>
            Show all runs
          </button>
        </p>
      </Notice>
    );
  }
  // The banner above shows the problem and how to fix it.
  if (props.sources.some((source) => source.problem !== undefined)) return <Notice title="No runs can be read" />;
  if (isPending) return <Notice title={`Reading ${reading?.name ?? 'the runs'}…`} />;
  const [files] = props.sources;
  if (files?.kind === 'files' && props.sources.length === 1) {
    return (
      <Notice title={`No run in ${files.name}`}>
        <p className="dim">It has no file of a format that coxswain reads.</p>
      </Notice>
    );
  }
  return (
    <Notice title="No runs yet">
      <p className="dim">
        Runs appear here as they are recorded. To see one now, run <code>coxswain demo</code>, or start the viewer with
        a file: <code>coxswain view runs.jsonl</code>.
      </p>
    </Notice>
  );
}

function useListKeys(
  placed: readonly PlacedRun[],
  filters: RunFilters,
  current: number,
  choose: (index: number) => void,
): void {
  useKeys(({ key }) => {
    const to = { j: current + 1, k: current - 1, g: 0, G: placed.length - 1 }[key];
    if (to !== undefined) {
      choose(Math.max(0, Math.min(placed.length - 1, to)));
      return true;
    }
    const place = placed[current];
    if (key === 'Enter' && place !== undefined) goTo(runRouteOf(place.run, filters));
    else if (key === '/') document.querySelector<HTMLInputElement>('.filters .search')?.focus();
    else return false;
    return true;
  });
}

const TASK_CHARS = 160;

const COLUMNS = ['Runs', 'Succeeded', 'Stuck', 'Calls, median', 'Wasted', 'Cost'];

function TaskTable({ filters }: { readonly filters: RunFilters }): ReactElement {
  const { group, sort: _sort, ...rest } = filters;
  const by = group === 'pattern' ? 'pattern' : 'task';
  const { error, reload, value } = useLoaded(
    `${by} ${JSON.stringify(rest)}`,
    () => getTasks(by, rest),
    ({ pending }) => pending > 0,
  );
  if (error !== undefined && value === undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (value === undefined) return <Notice title="Loading…" />;
  if (value.tasks.length === 0) return <Notice title={`None of these runs has a ${by}`} />;
  return (
    <div
      className="run-scroll task-scroll"
      tabIndex={0}
      role="region"
      aria-label={by === 'pattern' ? 'Patterns' : 'Tasks'}
    >
      <TaskRows tasks={value.tasks} filters={filters} />
      {value.leftOut === 0 ? null : (
        <p className="dim">{countOf(value.leftOut, 'more task')}, with fewer runs, left out.</p>
      )}
    </div>
  );
}

function TaskRows(props: { readonly tasks: readonly TaskGroup[]; readonly filters: RunFilters }): ReactElement {
  const { filters, tasks } = props;
  const { group: by, sort: _sort, ...rest } = filters;
  const isPattern = by === 'pattern';
  return (
    <table className="tasks">
      <thead>
        <tr>
          <th scope="col">{isPattern ? 'Pattern' : 'Task'}</th>
          {COLUMNS.map((label) => (
            <th key={label} scope="col" className="number">
              {label}
            </th>
          ))}
          <th scope="col">
            <span className="visually-hidden">Compare</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((group) => (
          <tr key={group.task}>
            <th scope="row">
              <Link
                to={{ page: 'runs', filters: { ...rest, [isPattern ? 'pattern' : 'task']: group.task } }}
                title={safeLine(group.task)}
              >
                {isPattern ? patternName(group.task) : safeLine(group.title).slice(0, TASK_CHARS)}
              </Link>
            </th>
            <td className="number">{countText(group.runs)}</td>
            <td className="number">{shareText(group.succeeded, group.judged)}</td>
            <td className="number">{shareText(group.stuck, group.runs)}</td>
            <td className="number">{countText(group.medianCalls)}</td>
            <td className="number">{countText(group.wastedCalls)}</td>
            <td className="number">{group.costUsd === undefined ? '—' : usdText(group.costUsd)}</td>
            <td>
              {group.runs < 2 ? null : (
                <Link className="button" to={pairOf(group)}>
                  Compare
                </Link>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function pairOf({ named }: TaskGroup): Route {
  const [a = '', b = ''] = [...named.slice(-1), ...named].map(runKey);
  return { page: 'compare', a, b };
}

/** Below the list, so that no row moves when it appears. */
function FailingCauses(): ReactElement | null {
  const { value } = useLoaded('failing', getFailing);
  if (value === undefined || value.causes.length === 0) return null;
  return (
    <section className="failing" aria-label="What keeps failing">
      <h2>What keeps failing</h2>
      <ul>
        {value.causes.map((cause) => (
          <Cause key={`${cause.name} ${cause.cause}`} {...cause} />
        ))}
      </ul>
      {value.leftOut === 0 ? null : (
        <p className="dim">
          {countOf(value.leftOut, 'more cause')}: <code>coxswain failures</code>
        </p>
      )}
    </section>
  );
}

function Cause({ calls, cause, costUsd = 0, example, name, sessions, worked }: FailingCause): ReactElement {
  const title = <b>{safeLine(name)}</b>;
  const to = example && { page: 'run' as const, run: example, call: example.call };
  return (
    <li>
      {to === undefined ? title : <Link to={to}>{title}</Link>}: {safeLine(cause)}
      <span className="dim">
        {' '}
        {countOf(sessions, 'session')}, cost {countOf(calls, 'call')}
        {costUsd >= 0.005 ? `, ${usdText(costUsd)}` : ''}
        {worked === undefined ? '' : `; then worked: ${safeLine(worked)}`}
      </span>
    </li>
  );
}
