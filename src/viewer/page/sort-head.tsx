import type { ReactElement } from 'react';

import type { RunFilters } from './api.ts';
import { goTo } from './use-route.ts';

function sortedBy(filters: RunFilters, name: string): 'ascending' | 'descending' | 'none' {
  if ((filters.sort ?? 'group') !== name) return 'none';
  return filters.order === 'asc' ? 'ascending' : 'descending';
}

function SortButton(props: {
  readonly filters: RunFilters;
  readonly name: string;
  readonly label: string;
}): ReactElement {
  const { filters, label, name } = props;
  const direction = sortedBy(filters, name);
  const { sort: _sort, order: _order, ...rest } = filters;
  const nextFilters: RunFilters = {
    ...rest,
    ...(name === 'group' ? {} : { sort: name }),
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
        <span key={name} className={sortedBy(filters, name) === 'none' ? '' : 'is-sorted'}>
          <SortButton filters={filters} name={name} label={label} />
        </span>
      ))}
    </div>
  );
}
