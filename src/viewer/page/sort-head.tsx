import type { ReactElement } from 'react';

import type { RunFilters } from './api.ts';
import { goTo } from './use-route.ts';

export function sortedBy(filters: RunFilters, name: string, initial = 'group'): 'ascending' | 'descending' | 'none' {
  if ((filters.sort ?? initial) !== name) return 'none';
  return filters.order === 'asc' ? 'ascending' : 'descending';
}

export function SortButton(props: {
  readonly filters: RunFilters;
  readonly name: string;
  readonly label: string;
  readonly initial?: string;
}): ReactElement {
  const { filters, initial = 'group', label, name } = props;
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

const ORDERS = [
  ['group', 'What needs you'],
  ['started', 'Newest'],
  ['cost', 'Dearest'],
  ['calls', 'Most calls'],
  ['errors', 'Most failures'],
  ['wasted', 'Most after a warning'],
  ['lasted', 'Longest'],
] as const;

export function SortHead({ filters }: { readonly filters: RunFilters }): ReactElement {
  return (
    <div className="run-head" role="group" aria-label="Order">
      {ORDERS.map(([name, label]) => (
        <span key={name} className={sortedBy(filters, name, 'group') === 'none' ? '' : 'is-sorted'}>
          <SortButton filters={filters} name={name} label={label} initial="group" />
        </span>
      ))}
    </div>
  );
}
