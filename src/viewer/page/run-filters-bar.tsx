import type { ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import { titlesOf } from '../../core/facts/task-title.ts';
import type { Facets, SourceRow } from '../server/api-shapes.ts';
import type { RunFilters } from './api.ts';
import { patternName } from './advice-words.ts';
import { baseName, unfiltered } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { SearchBox } from './search-box.tsx';
import { goTo } from './use-route.ts';

type FilterName = keyof RunFilters;
/** Display options, which are not filters. */
const SHAPES: ReadonlySet<string> = new Set(['sort', 'group', 'compare']);
const MAX_CHARS = 60;

const STATUS: Readonly<Record<string, string>> = {
  needs: 'needs you',
  running: 'running',
  done: 'done',
  open: 'without an end',
  ended: 'ended',
  success: 'succeeded',
  failed: 'failed or cut off',
  damaged: 'damaged',
  unlabelled: 'flags without a label',
};

const SELECTS: readonly (readonly [keyof Facets, string, (value: string) => string])[] = [
  ['project', 'project', baseName],
  ['status', 'status', (value) => STATUS[value] ?? value],
  ['model', 'model', String],
  ['agent', 'agent', String],
  ['task', 'task', String],
  ['pattern', 'pattern', (value) => (value === 'stuck' ? 'any stuck pattern' : patternName(value))],
];

export function RunFiltersBar(props: {
  readonly filters: RunFilters;
  readonly sources: readonly SourceRow[];
  readonly facets: Facets | undefined;
  readonly status: string;
  readonly children?: ReactElement;
}): ReactElement {
  const { facets, filters, sources } = props;
  const setFilter = (name: FilterName, value: string): void => {
    const { [name]: _before, ...rest } = filters;
    goTo({ page: 'runs', filters: value === '' ? rest : { ...rest, [name]: value } });
  };
  const isFiltered = Object.keys(filters).some((name) => !SHAPES.has(name));
  const hasChoice = (name: keyof Facets): boolean => (facets?.[name].length ?? 0) > 1;
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchBox
        label="Search everything in the runs"
        words={filters.q}
        onWords={(words) => setFilter('q', words)}
        delayMs={350}
      />
      {sources.length > 1 ? (
        <FilterSelect
          name="source"
          label="source"
          wordOf={(value) => sources.find(({ id }) => id === value)?.name ?? value}
          values={sources.map(({ id, runs }) => [id, runs])}
          value={filters.source ?? ''}
          onSet={setFilter}
        />
      ) : null}
      {/* A task is chosen in the table of tasks. */}
      {SELECTS.filter(([name]) => name in filters || name === 'status' || (name !== 'task' && hasChoice(name))).map(
        ([name, label, wordOf]) => (
          <FilterSelect
            key={name}
            name={name}
            label={label}
            wordOf={name === 'task' ? taskTitle(facets) : wordOf}
            values={facets?.[name] ?? []}
            value={filters[name] ?? ''}
            onSet={setFilter}
          />
        ),
      )}
      {isFiltered ? (
        <button type="button" className="quiet" onClick={() => goTo(unfiltered(filters))}>
          Clear
        </button>
      ) : null}
      <span className="spring" />
      {props.children}
      <span className="dim" role="status">
        {props.status}
      </span>
    </form>
  );
}

function taskTitle(facets: Facets | undefined): (task: string) => string {
  const titles = titlesOf(facets?.task.map(([task]) => task) ?? [], MAX_CHARS);
  return (task) => titles.get(task) ?? task;
}

function FilterSelect(props: {
  readonly name: FilterName;
  readonly label: string;
  readonly wordOf: (value: string) => string;
  readonly values: readonly (readonly [string, number])[];
  readonly value: string;
  readonly onSet: (name: FilterName, value: string) => void;
}): ReactElement {
  const { label, name, onSet, value, values, wordOf } = props;
  // A value from the address, such as a part of a name, is also an option.
  const choices =
    value === '' || values.some(([one]) => one === value) ? values : [[value, undefined] as const, ...values];
  return (
    <label className={value === '' ? 'chip' : 'chip is-set'}>
      {label}
      <select
        aria-label={`${label[0]?.toUpperCase()}${label.slice(1)}`}
        value={value}
        onChange={(event) => onSet(name, event.target.value)}
      >
        <option value="">any</option>
        {choices.map(([one, count]) => (
          <option key={one} value={one}>
            {safeLine(wordOf(one)).slice(0, MAX_CHARS)}
            {count === undefined ? '' : ` (${countText(count)})`}
          </option>
        ))}
      </select>
    </label>
  );
}
