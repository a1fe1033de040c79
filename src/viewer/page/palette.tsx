import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';

import { getRuns } from './api.ts';
import { patternName } from './pattern-name.ts';
import type { Route } from './route.ts';
import { runRouteOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { savedViews, viewRoute } from './saved-views.tsx';
import { useLoaded, useReloadWhilePending } from './use-loaded.ts';
import { goTo } from './use-route.ts';

interface Place {
  readonly kind: string;
  readonly name: string;
  readonly to: Route;
}

const MAX_PLACES = 30;
/** Interval between requests while a search is incomplete. */
const RETRY_MS = 1_000;
const PAGES: readonly Place[] = [
  { kind: 'page', name: 'Overview', to: { page: 'overview', filters: {} } },
  { kind: 'page', name: 'Runs', to: { page: 'runs', filters: {} } },
  { kind: 'page', name: 'Tasks', to: { page: 'runs', filters: { group: 'task' } } },
  { kind: 'page', name: 'Compare', to: { page: 'compare' } },
  { kind: 'page', name: 'Review', to: { page: 'review', by: 'pattern', filters: {} } },
  { kind: 'page', name: 'Experiments', to: { page: 'experiments', filters: {} } },
  { kind: 'runs', name: 'Runs that wasted most calls', to: { page: 'runs', filters: { sort: 'wasted' } } },
  { kind: 'runs', name: 'Runs where advice was ignored', to: { page: 'runs', filters: { advice: 'ignored' } } },
  { kind: 'runs', name: 'Runs that cost most', to: { page: 'runs', filters: { sort: 'cost' } } },
];

/** A dialog for jumping to pages, saved views, patterns, and runs found by their content. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typedText, setTypedText] = useState('');
  const [chosenIndex, setChosenIndex] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  const q = typedText.trim();
  const foundRuns = useLoaded(`palette ${q}`, () => getRuns(q === '' ? {} : { q }, undefined));
  useReloadWhilePending(foundRuns, RETRY_MS);
  const places = useMemo(() => placesOf(q, foundRuns.value), [q, foundRuns.value]);
  const placeIndex = Math.min(chosenIndex, places.length - 1);
  const openPlace = (place: Place | undefined): void => {
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
        aria-activedescendant={places.length === 0 ? undefined : `place-${placeIndex}`}
        aria-label="Search or jump"
        placeholder="A page, a pattern, a run, any word in it"
        value={typedText}
        autoFocus
        spellCheck={false}
        onChange={(event) => {
          setTypedText(event.target.value);
          setChosenIndex(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) setChosenIndex(Math.max(0, Math.min(places.length - 1, placeIndex + step)));
          else if (event.key === 'Enter') openPlace(places[placeIndex]);
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
            aria-selected={index === placeIndex}
            onClick={() => openPlace(place)}
          >
            <span className="dim">{place.kind}</span> {place.name}
          </li>
        ))}
      </ul>
    </dialog>
  );
}

function placesOf(q: string, found: Awaited<ReturnType<typeof getRuns>> | undefined): readonly Place[] {
  const lowerWords = q.toLowerCase();
  const patterns = (found?.facets.pattern ?? []).map(([kind]): Place => {
    return { kind: 'pattern', name: patternName(kind), to: { page: 'runs', filters: { pattern: kind } } };
  });
  const views = savedViews().map((view): Place => ({ kind: 'view', name: view.name, to: viewRoute(view) }));
  const namedPlaces = [...PAGES, ...views, ...patterns].filter(({ name }) => name.toLowerCase().includes(lowerWords));
  const runs = (found?.runs ?? []).map((run): Place => {
    return { kind: 'run', name: safeLine(run.title).slice(0, 100), to: runRouteOf(run, q === '' ? {} : { q }) };
  });
  return [...namedPlaces, ...runs].slice(0, MAX_PLACES);
}
