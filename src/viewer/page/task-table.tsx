import type { ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import { present } from '../../core/base/present.ts';
import type { TaskGroup, TasksAnswer } from '../server/api-shapes.ts';
import { getTasks, type RunFilters } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { costText, shareOrDash } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { runKey, type Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { SortButton, sortedBy } from './sort-head.tsx';
import { useLoaded, useReloadWhilePending, type Loaded } from './use-loaded.ts';

const TASK_CHARS = 160;

/** The columns after the task. Those with a name can be sorted by it. */
const COLUMNS = [
  ['Runs', 'runs'],
  ['Succeeded'],
  ['Stuck'],
  ['Calls, median', 'calls'],
  ['Wasted', 'wasted'],
  ['Cost', 'cost'],
] as const;

/** Shows the matching runs by task: their outcomes, and a link to compare them. */
export function TaskTable({ filters }: { readonly filters: RunFilters }): ReactElement {
  const { error, reload, value } = useTasks(filters);
  if (error !== undefined && value === undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (value === undefined) return <Notice title="Loading…" />;
  if (value.tasks.length === 0)
    return <Notice title={`None of these runs has a ${filters.group === 'pattern' ? 'pattern' : 'task'}`} />;
  return (
    <div className="run-scroll task-scroll" tabIndex={0} role="region" aria-label="Tasks">
      <TaskRows tasks={value.tasks} filters={filters} />
    </div>
  );
}

/** Loads the matching runs by task. */
function useTasks({ group, order, sort, ...rest }: RunFilters): Loaded<TasksAnswer> {
  const isTaskOrder = COLUMNS.some(([, name]) => name === sort);
  const filters = { ...rest, ...(isTaskOrder ? present({ sort }) : {}), ...present({ order }) };
  const by = group === 'pattern' ? 'pattern' : 'task';
  const loaded = useLoaded(`${by} ${JSON.stringify(filters)}`, () => getTasks(by, filters));
  useReloadWhilePending(loaded);
  return loaded;
}

/** The table of tasks, with a link to compare a failed run with a successful one. */
function TaskRows(props: { readonly tasks: readonly TaskGroup[]; readonly filters: RunFilters }): ReactElement {
  const { filters, tasks } = props;
  const { group: by = 'task', order: _order, sort: _sort, ...rest } = filters;
  const isPattern = by === 'pattern';
  return (
    <table className="tasks">
      <thead>
        <tr>
          <th scope="col">{isPattern ? 'Pattern' : 'Task'}</th>
          {COLUMNS.map(([label, name]) => (
            <th
              key={label}
              scope="col"
              className="number"
              aria-sort={name === undefined ? undefined : sortedBy(filters, name, 'runs')}
            >
              {name === undefined ? label : <SortButton filters={filters} name={name} label={label} initial="runs" />}
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
            <td className="number">{shareOrDash(group.judged === 0 ? null : group.succeeded / group.judged)}</td>
            <td className="number">{shareOrDash(group.stuck / group.runs)}</td>
            <td className="number">{countText(group.medianCalls)}</td>
            <td className="number">{countText(group.wastedCalls)}</td>
            <td className="number">{group.costUsd === undefined ? '—' : costText(group.costUsd)}</td>
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

/** The comparison of a failed run with a successful one, or of any two. */
function pairOf({ named }: TaskGroup): Route {
  const [a, b] = [named.at(-1), named[0]];
  return { page: 'compare', ...present({ a: a && runKey(a), b: b && runKey(b) }) };
}
