import { useSyncExternalStore } from 'react';

import { formatRoute, parseRoute, type Route } from './route.ts';

const listeners = new Set<() => void>();
let cachedRoute: { readonly search: string; readonly route: Route } | undefined;

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, currentRoute);
}

export function goTo(route: Route, { replace = false }: { readonly replace?: boolean } = {}): void {
  const path = formatRoute(route);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  for (const listener of listeners) listener();
}

function currentRoute(): Route {
  if (cachedRoute?.search !== location.search)
    cachedRoute = { search: location.search, route: parseRoute(location.search) };
  return cachedRoute.route;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}
