import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { RUN_FILTER_NAMES } from './api.ts';
import { formatRoute, parseRoute, type Route } from './route.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const filters = fc
  .uniqueArray(fc.constantFrom(...RUN_FILTER_NAMES))
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, text]))));
const run = fc.record({ source: text, runId: text });
const routes: fc.Arbitrary<Route> = fc.oneof(
  filters.map((chosen) => ({ page: 'runs' as const, filters: chosen })),
  fc.record({ page: fc.constant('run' as const), run, at: fc.nat(), find: text }),
  fc.record({
    page: fc.constant('run' as const),
    run,
    call: fc.integer({ min: 1 }),
    label: filters,
  }),
  run.map((address) => ({ page: 'run' as const, run: address })),
  fc.record({ page: fc.constant('compare' as const), a: text, b: text }),
);

test('an address parses to its route', () => {
  fc.assert(
    fc.property(routes, (route) => {
      const address = new URL(formatRoute(route), 'http://viewer');
      expect(address.pathname).toBe('/');
      expect(parseRoute(address.search)).toEqual(route);
    }),
  );
});

test('invalid parts of an address are ignored', () => {
  expect(parseRoute('?page=nothing&at=7')).toEqual({ page: 'runs', filters: {} });
  expect(parseRoute('?page=compare&a=0/a')).toEqual({ page: 'runs', filters: {} });
  expect(parseRoute('?source=0&run=a&call=0')).toEqual({ page: 'run', run: { source: '0', runId: 'a' } });
  expect(parseRoute('?source=0&run=a&at=-3')).toEqual({ page: 'run', run: { source: '0', runId: 'a' } });
  expect(parseRoute('?source=0&run=a&at=1e99')).toEqual({ page: 'run', run: { source: '0', runId: 'a' } });
});
