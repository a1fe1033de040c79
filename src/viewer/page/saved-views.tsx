import { useState, type ReactElement } from 'react';

import type { RunFilters } from './api.ts';
import { formatRoute, parseRoute, type Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { goTo } from './use-route.ts';

const KEY = 'coxswain-views';
const MAX_VIEWS = 50;

/** A name for a set of filters. The filters are stored as the address of their page. */
export interface SavedView {
  readonly name: string;
  readonly address: string;
}

/** Returns the views stored in this browser. */
export function savedViews(): readonly SavedView[] {
  try {
    const storedValue: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(storedValue) ? storedValue.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('address' in value)) return false;
  return typeof value.name === 'string' && typeof value.address === 'string';
}

/** Returns the route of a view. */
export function viewRoute({ address }: SavedView): Route {
  return parseRoute(new URL(address, location.origin).search);
}

/** Lets the user select a saved view, and save or delete the current one. */
export function SavedViews({ filters, route }: { readonly filters: RunFilters; readonly route: Route }): ReactElement {
  const [views, setViews] = useState(savedViews);
  const address = formatRoute(route);
  const current = views.find((view) => view.address === address);
  const storeViews = (next: readonly SavedView[]): void => {
    setViews(next);
    try {
      localStorage.setItem(KEY, JSON.stringify(next));
    } catch {
      // Without storage, the view exists until the page is closed.
    }
  };
  const name = Object.entries(filters)
    .map(([filter, value]) => `${filter} ${safeLine(value).slice(0, 40)}`)
    .join(', ');
  return (
    <span className="views">
      {views.length === 0 ? null : (
        <select
          aria-label="Saved views"
          value={current?.address ?? ''}
          onChange={({ target: { value } }) => {
            const view = views.find((one) => one.address === value);
            if (view !== undefined) goTo(viewRoute(view));
          }}
        >
          <option value="">saved views</option>
          {views.map((view) => (
            <option key={view.address} value={view.address}>
              {view.name}
            </option>
          ))}
        </select>
      )}
      {current !== undefined ? (
        <button type="button" className="quiet" onClick={() => storeViews(views.filter((view) => view !== current))}>
          Delete view
        </button>
      ) : name === '' ? null : (
        <button
          type="button"
          className="quiet"
          onClick={() => storeViews([{ name, address }, ...views].slice(0, MAX_VIEWS))}
        >
          Save view
        </button>
      )}
    </span>
  );
}
