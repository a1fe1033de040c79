import { useEffect, useRef, useState, type FormEvent, type ReactElement } from 'react';

import { countText } from '../../base/number-text.ts';
import { inWords } from '../../records/words.ts';
import type { Facets, SourceRow } from '../server/api-shapes.ts';
import type { RunFilters } from './api.ts';
import { patternName } from './pattern-name.ts';
import { formatRoute, type Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { SavedViews } from './saved-views.tsx';
import { goTo } from './use-route.ts';
import { warningParts } from '../server/warning-key.ts';

type FilterName = keyof RunFilters;
/** Display options, which are not filters. */
const SHAPES: ReadonlySet<string> = new Set(['sort', 'order', 'group']);
const MAX_CHARS = 60;

const STATUS: Readonly<Record<string, string>> = {
  open: 'open',
  ended: 'ended',
  success: 'succeeded',
  failed: 'failed',
  damaged: 'damaged',
};
const ADVICE: Readonly<Record<string, string>> = { any: 'any advice', ignored: 'ignored by the agent' };

/** The filters with counts, and functions that format their values. */
const SELECTS: readonly (readonly [keyof Facets, string, (value: string) => string])[] = [
  ['status', 'status', (value) => STATUS[value] ?? value],
  ['outcome', 'outcome', (value) => inWords('outcome', value)],
  ['model', 'model', String],
  ['agent', 'agent', String],
  ['task', 'task', String],
  ['pattern', 'pattern', (value) => (value === 'stuck' ? 'any stuck pattern' : patternName(value))],
  ['stuck', 'first warning', warningText],
  ['advice', 'advice', (value) => ADVICE[value] ?? inWords('delivery', value)],
  ['tool', 'tool', String],
];

function warningText(key: string): string {
  const { kind, line, tool } = warningParts(key);
  return [line ?? patternName(kind), tool].filter((part) => part !== undefined).join(', ');
}

/** The filter bar of a page. All filters are part of the page's address. */
export function RunFiltersBar(props: {
  readonly filters: RunFilters;
  readonly sources: readonly SourceRow[];
  readonly facets: Facets | undefined;
  readonly status: string;
  /** Returns the route with other filters. */
  readonly to: (filters: RunFilters) => Route;
  readonly children?: ReactElement;
}): ReactElement {
  const { facets, filters, sources, to } = props;
  const setFilter = (name: FilterName, value: string): void => {
    const { [name]: _before, ...rest } = filters;
    goTo(to(value === '' ? rest : { ...rest, [name]: value }));
  };
  const isFiltered = Object.keys(filters).some((name) => !SHAPES.has(name));
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchBox filters={filters} onSet={setFilter} />
      {sources.length > 1 ? (
        <select
          aria-label="Source"
          value={filters.source ?? ''}
          onChange={(event) => setFilter('source', event.target.value)}
        >
          <option value="">all sources</option>
          {sources.map((source) => (
            <option key={source.id} value={source.id}>
              {source.name}
            </option>
          ))}
        </select>
      ) : null}
      {SELECTS.map(([name, label, wordOf]) => (
        <FacetSelect
          key={name}
          name={name}
          label={label}
          wordOf={wordOf}
          values={facets?.[name] ?? []}
          value={filters[name] ?? ''}
          onSet={setFilter}
        />
      ))}
      <label>
        from
        <input type="date" value={filters.since ?? ''} onChange={(event) => setFilter('since', event.target.value)} />
      </label>
      <label>
        to
        <input type="date" value={filters.until ?? ''} onChange={(event) => setFilter('until', event.target.value)} />
      </label>
      {isFiltered ? (
        <button type="button" className="quiet" onClick={() => goTo(to({}))}>
          Clear
        </button>
      ) : null}
      <span className="spring" />
      {props.children}
      <SavedViews key={formatRoute(to(filters))} filters={filters} route={to(filters)} />
      <span className="dim" role="status">
        {props.status}
      </span>
    </form>
  );
}

/** Renders one filter with its values and counts. It is hidden if there are no values. */
function FacetSelect(props: {
  readonly name: keyof Facets;
  readonly label: string;
  readonly wordOf: (value: string) => string;
  readonly values: readonly (readonly [string, number])[];
  readonly value: string;
  readonly onSet: (name: FilterName, value: string) => void;
}): ReactElement | null {
  const { label, name, onSet, value, values, wordOf } = props;
  if (values.length < 2 && value === '' && name !== 'status') return null;
  // A value from the address, such as a part of a name, is also an option.
  const choices =
    value === '' || values.some(([one]) => one === value) ? values : [[value, undefined] as const, ...values];
  return (
    <select
      aria-label={`${label[0]?.toUpperCase()}${label.slice(1)}`}
      className={value === '' ? undefined : 'is-set'}
      value={value}
      onChange={(event) => onSet(name, event.target.value)}
    >
      <option value="">any {label}</option>
      {choices.map(([one, count]) => (
        <option key={one} value={one}>
          {safeLine(wordOf(one)).slice(0, MAX_CHARS)}
          {count === undefined ? '' : ` (${countText(count)})`}
        </option>
      ))}
    </select>
  );
}

/** A search box. It applies the text on Enter, on blur, and shortly after the last key press. */
function SearchBox(props: {
  readonly filters: RunFilters;
  readonly onSet: (name: FilterName, value: string) => void;
}): ReactElement {
  const latest = useRef(props.onSet);
  latest.current = props.onSet;
  const currentWords = props.filters.q ?? '';
  const [typedText, setTypedText] = useState(currentWords);
  useEffect(() => setTypedText(currentWords), [currentWords]);
  useEffect(() => {
    if (typedText === currentWords) return undefined;
    const timer = setTimeout(() => latest.current('q', typedText.trim()), 350);
    return () => clearTimeout(timer);
  }, [typedText, currentWords]);
  return (
    <input
      type="search"
      className="search"
      aria-label="Search everything in the runs"
      placeholder="Search everything in the runs"
      value={typedText}
      spellCheck={false}
      onInput={(event: FormEvent<HTMLInputElement>) => setTypedText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') latest.current('q', typedText.trim());
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
