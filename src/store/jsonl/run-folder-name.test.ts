import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { isRunFolderName, runFolderName, runIdInFolderName } from './run-folder-name.ts';

const ids = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'binary-ascii', maxLength: 40 }));

test('a name is safe on every file system', () => {
  fc.assert(
    fc.property(ids, (id) => {
      const name = runFolderName(id);
      expect(name).toMatch(/^run-[a-z0-9_%~-]*$/);
      expect(name.length).toBeLessThanOrEqual(184);
      expect(isRunFolderName(name)).toBe(true);
    }),
  );
});

test('two ids never have the same name', () => {
  fc.assert(
    fc.property(ids, ids, (left, right) => {
      expect(runFolderName(left) === runFolderName(right)).toBe(left === right);
    }),
  );
});

test('a short id can be decoded from its name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 15 }), (id) => {
      expect(runIdInFolderName(runFolderName(id))).toBe(id);
    }),
  );
});

test('names of well-known ids', () => {
  expect(runFolderName('0198c0de-7a_b')).toBe('run-0198c0de-7a_b');
  expect(runFolderName('../Con')).toBe('run-%2e%2e%2f%43on');
  expect(runFolderName('')).toBe('run-');
  expect(runFolderName('~')).toBe('run-%7e');
  expect(runFolderName('x'.repeat(300))).toMatch(/^run-x{100}~[0-9a-f]{64}$/);
});
