import { useEffect, useRef, useState, type FormEvent, type ReactElement } from 'react';

import type { SourceRow } from '../server/api-shapes.ts';
import type { RunFilters } from './api.ts';
import { goTo } from './use-route.ts';

type FilterName = keyof RunFilters;

/** What the list shows: every choice stands in the address. */
export function RunFiltersBar(props: {
  readonly filters: RunFilters;
  readonly sources: readonly SourceRow[];
  readonly status: string;
}): ReactElement {
  const { filters, sources } = props;
  const set = (name: FilterName, value: string): void => {
    const { [name]: _before, ...rest } = filters;
    goTo({ page: 'runs', filters: value === '' ? rest : { ...rest, [name]: value } });
  };
  const isFiltered = Object.keys(filters).some((name) => name !== 'sort' && name !== 'order');
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <TextFilter name="q" label="Search everything in the runs" className="search" filters={filters} onSet={set} />
      {sources.length > 1 ? (
        <select
          aria-label="Source"
          value={filters.source ?? ''}
          onChange={(event) => set('source', event.target.value)}
        >
          <option value="">all sources</option>
          {sources.map((source) => (
            <option key={source.id} value={source.id}>
              {source.name}
            </option>
          ))}
        </select>
      ) : null}
      <select aria-label="Status" value={filters.status ?? ''} onChange={(event) => set('status', event.target.value)}>
        <option value="">any status</option>
        <option value="open">open</option>
        <option value="ended">ended</option>
        <option value="failed">failed</option>
      </select>
      <TextFilter name="outcome" label="outcome" className="short" filters={filters} onSet={set} />
      <TextFilter name="tool" label="tool" className="short" filters={filters} onSet={set} />
      <TextFilter name="pattern" label="pattern" className="short" filters={filters} onSet={set} />
      <label>
        <input
          type="checkbox"
          checked={filters.advice === '1'}
          onChange={(event) => set('advice', event.target.checked ? '1' : '')}
        />
        with advice
      </label>
      <label>
        from
        <input type="date" value={filters.since ?? ''} onChange={(event) => set('since', event.target.value)} />
      </label>
      <label>
        to
        <input type="date" value={filters.until ?? ''} onChange={(event) => set('until', event.target.value)} />
      </label>
      {isFiltered ? (
        <button type="button" className="quiet" onClick={() => goTo({ page: 'runs', filters: {} })}>
          Clear
        </button>
      ) : null}
      <span className="spring" />
      <span className="dim" role="status">
        {props.status}
      </span>
    </form>
  );
}

/** Takes effect on Enter, when it is left, and a moment after the last key. */
function TextFilter(props: {
  readonly name: FilterName;
  readonly label: string;
  readonly className: string;
  readonly filters: RunFilters;
  readonly onSet: (name: FilterName, value: string) => void;
}): ReactElement {
  const { name } = props;
  const latest = useRef(props.onSet);
  latest.current = props.onSet;
  const set = props.filters[name] ?? '';
  const [typed, setTyped] = useState(set);
  useEffect(() => setTyped(set), [set]);
  useEffect(() => {
    if (typed === set) return undefined;
    const timer = setTimeout(() => latest.current(name, typed.trim()), 350);
    return () => clearTimeout(timer);
  }, [typed, set, name]);
  return (
    <input
      type="search"
      className={props.className}
      aria-label={props.label}
      placeholder={props.label}
      value={typed}
      spellCheck={false}
      onInput={(event: FormEvent<HTMLInputElement>) => setTyped(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') latest.current(name, typed.trim());
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
