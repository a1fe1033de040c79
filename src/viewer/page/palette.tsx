import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';

import { getRuns } from './api.ts';
import { patternName } from './pattern-name.ts';
import type { Route } from './route.ts';
import { runRouteOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { savedViews, viewRoute } from './saved-views.tsx';
import { useLoaded } from './use-loaded.ts';
import { goTo } from './use-route.ts';

interface Place {
  readonly kind: string;
  readonly name: string;
  readonly to: Route;
}

const MAX_PLACES = 30;
/** Interval between requests while a search is incomplete. */
const AGAIN_MS = 1_000;
const PAGES: readonly Place[] = [
  { kind: 'page', name: 'Overview', to: { page: 'overview', filters: {} } },
  { kind: 'page', name: 'Runs', to: { page: 'runs', filters: {} } },
  { kind: 'page', name: 'Tasks', to: { page: 'runs', filters: { group: 'task' } } },
  { kind: 'page', name: 'Compare', to: { page: 'compare' } },
  { kind: 'page', name: 'Review', to: { page: 'review', by: 'pattern' } },
  { kind: 'page', name: 'Experiments', to: { page: 'experiments', filters: {} } },
  { kind: 'runs', name: 'Runs that wasted most calls', to: { page: 'runs', filters: { sort: 'wasted' } } },
  { kind: 'runs', name: 'Runs where advice was ignored', to: { page: 'runs', filters: { advice: 'ignored' } } },
  { kind: 'runs', name: 'Runs that cost most', to: { page: 'runs', filters: { sort: 'cost' } } },
];

/** A dialog for jumping to pages, saved views, patterns, and runs found by their content. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  const q = typed.trim();
  const found = useLoaded(`palette ${q}`, () => getRuns(q === '' ? {} : { q }, undefined));
  const isPending = (found.value?.pending ?? 0) > 0;
  const { reload } = found;
  useEffect(() => {
    if (!isPending) return undefined;
    const timer = setTimeout(reload, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isPending, found.value, reload]);
  const places = useMemo(() => placesOf(q, found.value), [q, found.value]);
  const at = Math.min(chosen, places.length - 1);
  const go = (place: Place | undefined): void => {
    if (place === undefined) return;
    dialog.current?.close();
    goTo(place.to);
  };
  return (
    <dialog ref={dialog} className="palette" onClose={onClose} aria-label="Search or jump">
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-places"
        aria-activedescendant={places.length === 0 ? undefined : `place-${at}`}
        aria-label="Search or jump"
        placeholder="A page, a pattern, a run, any word in it"
        value={typed}
        autoFocus
        spellCheck={false}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by !== undefined) setChosen(Math.max(0, Math.min(places.length - 1, at + by)));
          else if (event.key === 'Enter') go(places[at]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-places" role="listbox" aria-label="Places">
        {places.map((place, index) => (
          <li
            key={`${place.kind} ${place.name} ${index}`}
            id={`place-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(place)}
          >
            <span className="dim">{place.kind}</span> {place.name}
          </li>
        ))}
      </ul>
    </dialog>
  );
}

function placesOf(q: string, found: Awaited<ReturnType<typeof getRuns>> | undefined): readonly Place[] {
  const small = q.toLowerCase();
  const patterns = (found?.facets.pattern ?? []).map(([kind]): Place => {
    return { kind: 'pattern', name: patternName(kind), to: { page: 'runs', filters: { pattern: kind } } };
  });
  const views = savedViews().map((view): Place => ({ kind: 'view', name: view.name, to: viewRoute(view) }));
  const named = [...PAGES, ...views, ...patterns].filter(({ name }) => name.toLowerCase().includes(small));
  const runs = (found?.runs ?? []).map((run): Place => {
    const name = safeLine(run.task ?? '') || safeLine(run.runId);
    return { kind: 'run', name: name.slice(0, 100), to: runRouteOf(run, q === '' ? {} : { q }) };
  });
  return [...named, ...runs].slice(0, MAX_PLACES);
}
