import { useSyncExternalStore } from 'react';

import { formatRoute, parseRoute, type Route } from './route.ts';
import { findShared, sharedRun } from './shared-runs.ts';

const listeners = new Set<() => void>();
let cachedRoute: { readonly search: string; readonly route: Route } | undefined;

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, currentRoute);
}

export function goTo(route: Route, { replace = false }: { readonly replace?: boolean } = {}): void {
  const path = hrefOf(route);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  for (const listener of listeners) listener();
}

/** The address of a route. A file that was shared stays the same file. */
export function hrefOf(route: Route): string {
  const path = formatRoute(route);
  return sharedRun === undefined ? path : location.pathname + path.slice(1);
}

function currentRoute(): Route {
  if (cachedRoute?.search !== location.search)
    cachedRoute = { search: location.search, route: knownRoute(parseRoute(location.search)) };
  return cachedRoute.route;
}

/** In a file that was shared, every address leads to one of its runs. */
function knownRoute(route: Route): Route {
  if (sharedRun === undefined || (route.page === 'run' && findShared(route.run.runId) !== undefined)) return route;
  const { runId, source } = sharedRun.answer.run;
  return { page: 'run', run: { source, runId } };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}
