import { expect, test } from 'vitest';

import { configFields } from './config-fields.ts';
import { FIELD_TRUST, trustOf } from './field-trust.ts';

test('every field of the configuration has a class', () => {
  const paths = configFields().map(({ path }) => path);
  const without = paths.filter(
    (path) => trustOf(path) === undefined && !paths.some((other) => other.startsWith(`${path}.`)),
  );
  expect(without).toEqual([]);
});

test('every class belongs to a field', () => {
  const paths = new Set(configFields().map(({ path }) => path));
  expect(Object.keys(FIELD_TRUST).filter((path) => !paths.has(path))).toEqual([]);
});
