import type { ReactElement } from 'react';

import type { RunFilters } from './api.ts';
import { goTo } from './use-route.ts';

/** Returns the value of `aria-sort` for a column. @param initial  the name of the order without a filter */
export function sortedBy(filters: RunFilters, name: string, initial = 'started'): 'ascending' | 'descending' | 'none' {
  if ((filters.sort ?? initial) !== name) return 'none';
  return filters.order === 'asc' ? 'ascending' : 'descending';
}

/** Sorts by a column. A second click reverses the order. */
export function SortButton(props: {
  readonly filters: RunFilters;
  readonly name: string;
  readonly label: string;
  readonly initial?: string;
}): ReactElement {
  const { filters, initial = 'started', label, name } = props;
  const direction = sortedBy(filters, name, initial);
  const { sort: _sort, order: _order, ...rest } = filters;
  const nextFilters: RunFilters = {
    ...rest,
    ...(name === initial ? {} : { sort: name }),
    ...(direction === 'descending' ? { order: 'asc' } : {}),
  };
  return (
    <button type="button" onClick={() => goTo({ page: 'runs', filters: nextFilters })}>
      {label}
      {direction === 'none' ? null : <span aria-hidden="true">{direction === 'ascending' ? '↑' : '↓'}</span>}
    </button>
  );
}

/** The column headers of the list. Sortable columns are buttons. */
export function SortHead({ filters }: { readonly filters: RunFilters }): ReactElement {
  const sortButton = (name: string, label: string, className: string): ReactElement => (
    <div className={className} role="columnheader" aria-sort={sortedBy(filters, name)}>
      <SortButton filters={filters} name={name} label={label} />
    </div>
  );
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
