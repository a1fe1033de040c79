import { assertNever } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { RUN_FILTER_NAMES, type RunAddress, type RunFilters } from './api.ts';

/** A view of the page. The address contains all of it. */
export type Route =
  | { readonly page: 'runs'; readonly filters: RunFilters }
  | {
      readonly page: 'run';
      readonly run: RunAddress;
      readonly at?: number;
      readonly find?: string;
      /** Shows the bar for labels. After a label, the next unlabelled flag in the runs with these filters opens. */
      readonly label?: RunFilters;
    }
  | { readonly page: 'compare'; readonly a?: string; readonly b?: string }
  /** A call (1-based) of a run. It redirects to the call. Without a source, all sources are searched for the run. */
  | {
      readonly page: 'moment';
      readonly runId: string;
      readonly call: number;
      readonly source?: string;
      readonly label?: RunFilters;
    };

/** Parses the query of an address. Invalid parts are ignored. */
export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  const page = query.get('page');
  if (page === 'compare') {
    const [a, b] = [query.get('a') ?? undefined, query.get('b') ?? undefined];
    return { page, ...present({ a, b }) };
  }
  const runId = query.get('run');
  if (page === 'moment' && runId !== null) {
    const call = Number(query.get('call'));
    const source = query.get('source') ?? undefined;
    return {
      page,
      runId,
      call: Number.isSafeInteger(call) && call >= 1 ? call : 1,
      ...present({ source, label: labelFilters(query) }),
    };
  }
  if (runId !== null) return runRoute(query, runId);
  return { page: 'runs', filters: readFilters(query) };
}

/** Formats a route as an address that starts with `/`. This is the inverse of `parseRoute`. */
export function formatRoute(route: Route): string {
  const query = new URLSearchParams();
  switch (route.page) {
    case 'runs':
      setFilters(query, route.filters);
      break;
    case 'run':
      query.set('source', route.run.source);
      query.set('run', route.run.runId);
      if (route.at !== undefined) query.set('at', String(route.at));
      if (route.find !== undefined && route.find !== '') query.set('find', route.find);
      setLabelFilters(query, route.label);
      break;
    case 'compare':
      query.set('page', 'compare');
      if (route.a !== undefined) query.set('a', route.a);
      if (route.b !== undefined) query.set('b', route.b);
      break;
    case 'moment':
      query.set('page', 'moment');
      query.set('run', route.runId);
      query.set('call', String(route.call));
      if (route.source !== undefined) query.set('source', route.source);
      setLabelFilters(query, route.label);
      break;
    default:
      return assertNever(route);
  }
  const text = query.toString();
  return text === '' ? '/' : `/?${text}`;
}

export function runKey({ source, runId }: RunAddress): string {
  return `${source}/${runId}`;
}

/** Parses a key. This is the inverse of `runKey`: the id of a source contains no slash. */
export function addressOf(key: string): RunAddress {
  const slash = key.indexOf('/');
  return slash < 0 ? { source: '', runId: key } : { source: key.slice(0, slash), runId: key.slice(slash + 1) };
}

function readFilters(query: URLSearchParams): RunFilters {
  const filters: Record<string, string> = {};
  for (const name of RUN_FILTER_NAMES) {
    const value = query.get(name);
    if (value !== null && value !== '') filters[name] = value;
  }
  return filters;
}

function setFilters(query: URLSearchParams, filters: RunFilters): URLSearchParams {
  for (const name of RUN_FILTER_NAMES) {
    const value = filters[name];
    if (value !== undefined && value !== '') query.set(name, value);
  }
  return query;
}

/** The names of filters are also names of a run's own parameters, so the filters are one parameter. */
function setLabelFilters(query: URLSearchParams, filters: RunFilters | undefined): void {
  if (filters !== undefined) query.set('label', setFilters(new URLSearchParams(), filters).toString());
}

function labelFilters(query: URLSearchParams): RunFilters | undefined {
  const text = query.get('label');
  return text === null ? undefined : readFilters(new URLSearchParams(text));
}

function runRoute(query: URLSearchParams, runId: string): Route {
  const seq = Number(query.get('at') ?? Number.NaN);
  const find = query.get('find');
  return {
    page: 'run',
    run: { source: query.get('source') ?? '', runId },
    ...(Number.isSafeInteger(seq) && seq >= 0 ? { at: seq } : {}),
    ...(find === null || find === '' ? {} : { find }),
    ...present({ label: labelFilters(query) }),
  };
}
