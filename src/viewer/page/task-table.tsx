import { useEffect, type ReactElement } from 'react';

import { countText } from '../../base/number-text.ts';
import { getTasks, type RunFilters } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { costText, shareOrDash } from './number-text.ts';
import { runKey } from './route.ts';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

const AGAIN_MS = 1_500;
const TASK_CHARS = 160;

/** Shows the matching runs by task: their outcomes, and a link to compare them. */
export function TaskTable({ filters }: { readonly filters: RunFilters }): ReactElement {
  const { group: _group, order: _order, sort: _sort, ...rest } = filters;
  const { error, isLoading, reload, value } = useLoaded(`tasks ${JSON.stringify(rest)}`, () => getTasks(rest));
  const pending = value?.pending ?? 0;
  useEffect(() => {
    if (pending === 0 || isLoading) return undefined;
    const timer = setTimeout(reload, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [pending, isLoading, reload]);
  if (error !== undefined && value === undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (value === undefined) return <Notice title="Loading…" />;
  if (value.tasks.length === 0) return <Notice title="None of these runs has a task" />;
  return (
    <div className="run-scroll task-scroll" tabIndex={0} role="region" aria-label="Tasks">
      <table className="tasks">
        <thead>
          <tr>
            {['Task', 'Runs', 'Succeeded', 'Stuck', 'Calls, median', 'Wasted', 'Cost'].map((name, at) => (
              <th key={name} scope="col" className={at === 0 ? undefined : 'number'}>
                {name}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">Compare</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {value.tasks.map((group) => (
            <tr key={group.task}>
              <th scope="row">
                <Link to={{ page: 'runs', filters: { ...rest, task: group.task } }} title={safeLine(group.task)}>
                  {safeLine(group.title).slice(0, TASK_CHARS)}
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
                  <Link className="button" to={{ page: 'compare', runs: group.named.map(runKey) }}>
                    Side by side
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
