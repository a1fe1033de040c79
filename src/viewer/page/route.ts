import { present } from '../../core/base/json.ts';
import { filterQuery, RUN_FILTER_NAMES, type RunAddress, type RunFilters } from './api.ts';

/** A view of the page. The address contains all of it. */
export type Route =
  | { readonly page: 'runs'; readonly filters: RunFilters }
  | {
      readonly page: 'run';
      readonly run: RunAddress;
      readonly at?: number;
      /** A call (1-based), selected unless `at` is present. */
      readonly call?: number;
      readonly find?: string;
      /** Shows the bar for labels. After a label, the next unlabelled flag in the runs with these filters opens. */
      readonly label?: RunFilters;
    }
  | { readonly page: 'compare'; readonly a: string; readonly b: string };

/** Parses the query of an address. Invalid parts are ignored. */
export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  const [page, a, b, runId] = ['page', 'a', 'b', 'run'].map((name) => query.get(name) ?? undefined);
  if (page === 'compare' && a !== undefined && b !== undefined) return { page, a, b };
  if (runId !== undefined) return runRoute(query, runId);
  return { page: 'runs', filters: readFilters(query) };
}

/** Formats a route as an address that starts with `/`. This is the inverse of `parseRoute`. */
export function formatRoute(route: Route): string {
  const text = queryOf(route).toString();
  return text === '' ? '/' : `/?${text}`;
}

function queryOf(route: Route): URLSearchParams {
  if (route.page === 'runs') return filterQuery(route.filters);
  if (route.page === 'compare') return new URLSearchParams({ ...route });
  const { at, call, find, label, run } = route;
  // The names of filters are also names of a run's own parameters, so the filters are one parameter.
  const rest = { at, call, find: find === '' ? undefined : find, label: label && filterQuery(label) };
  const parts = Object.entries({ source: run.source, run: run.runId, ...present(rest) });
  return new URLSearchParams(parts.map(([name, value]) => [name, String(value)]));
}

export function runKey({ source, runId }: RunAddress): string {
  return `${source}/${runId}`;
}

function readFilters(query: URLSearchParams): RunFilters {
  const filters: Record<string, string> = {};
  for (const name of RUN_FILTER_NAMES) {
    const value = query.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  return filters;
}

function runRoute(query: URLSearchParams, runId: string): Route {
  const label = query.get('label');
  return {
    page: 'run',
    run: { source: query.get('source') ?? '', runId },
    ...present({
      at: numberIn(query, 'at', 0),
      call: numberIn(query, 'call', 1),
      find: query.get('find') || undefined,
      label: label === null ? undefined : readFilters(new URLSearchParams(label)),
    }),
  };
}

function numberIn(query: URLSearchParams, name: string, least: number): number | undefined {
  const number = Number(query.get(name) ?? Number.NaN);
  return Number.isSafeInteger(number) && number >= least ? number : undefined;
}
