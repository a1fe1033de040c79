import type { ReactElement } from 'react';

import type { RunFilters } from './api.ts';
import { goTo } from './use-route.ts';

/** The column headers of the list. Sortable columns are buttons. */
export function SortHead({ filters }: { readonly filters: RunFilters }): ReactElement {
  const sortButton = (name: string, label: string, className: string): ReactElement => {
    const isBy = (filters.sort ?? 'started') === name;
    const isUp = filters.order === 'asc';
    const { sort: _sort, order: _order, ...rest } = filters;
    const nextFilters: RunFilters = {
      ...rest,
      ...(name === 'started' ? {} : { sort: name }),
      ...(isBy && !isUp ? { order: 'asc' } : {}),
    };
    return (
      <div className={className} role="columnheader" aria-sort={isBy ? (isUp ? 'ascending' : 'descending') : 'none'}>
        <button type="button" onClick={() => goTo({ page: 'runs', filters: nextFilters })}>
          {label}
          {isBy ? <span aria-hidden="true">{isUp ? '↑' : '↓'}</span> : null}
        </button>
      </div>
    );
  };
  return (
    <div role="table" aria-label="Columns">
      <div className="run-grid run-head" role="row">
        <div role="columnheader">
          <span className="visually-hidden">State</span>
        </div>
        <div role="columnheader">Run</div>
        {sortButton('started', 'Started', '')}
        {sortButton('lasted', 'Lasted', 'lasted')}
        {sortButton('calls', 'Calls', 'number')}
        {sortButton('errors', 'Errors', 'number')}
        {sortButton('wasted', 'Wasted', 'number wasted')}
        {sortButton('advice', 'Advice', 'number')}
        {sortButton('cost', 'Cost', 'number cost')}
        <div className="patterns" role="columnheader">
          Patterns
        </div>
        <div className="glance" role="columnheader">
          At a glance
        </div>
        <div role="columnheader">
          <span className="visually-hidden">Compare</span>
        </div>
      </div>
    </div>
  );
}
