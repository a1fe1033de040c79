import { isAbsolute } from 'node:path';
import { afterEach, expect, test } from 'vitest';

import { cacheRoot, dataRoot, stateRoot } from './state-places.ts';

const { HOME: own } = process.env;
afterEach(() => {
  process.env['HOME'] = own;
});

test.each(['', 'below/the/project'])(
  'with the home folder "%s", no file of the user is in the working folder',
  (home) => {
    process.env['HOME'] = home;
    const places = { env: { HOME: home } };
    expect([cacheRoot, dataRoot, stateRoot].map((rootOf) => isAbsolute(rootOf(places)))).toEqual([true, true, true]);
  },
);
