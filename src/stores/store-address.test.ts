import { expect, test } from 'vitest';

import { parseStoreAddress, shownAddress, storePath } from './store-address.ts';

test.each([
  ['.coxswain/runs.db', { kind: 'path', path: '.coxswain/runs.db' }],
  ['sqlite:runs.db', { kind: 'path', path: 'runs.db' }],
  ['sqlite:///tmp/runs.db', { kind: 'path', path: '/tmp/runs.db' }],
  ['C:\\runs.db', { kind: 'path', path: 'C:\\runs.db' }],
  ['memory:', { kind: 'memory' }],
  ['postgres://h/x', { kind: 'postgres', url: 'postgres://h/x' }],
  ['postgresql://h/x?schema=agents', { kind: 'postgres', url: 'postgresql://h/x', schema: 'agents' }],
  ['postgres://h/x?schema=a&sslmode=require', { kind: 'postgres', url: 'postgres://h/x?sslmode=require', schema: 'a' }],
  ['postgres://h/x?a=b&schema=a', { kind: 'postgres', url: 'postgres://h/x?a=b', schema: 'a' }],
  ['postgres://a:1,b:2/x', { kind: 'postgres', url: 'postgres://a:1,b:2/x' }],
])('%s is read as the address of a store', (text, address) => {
  expect(parseStoreAddress(text)).toEqual(address);
});

test('the path of a store is that of its file; a database and memory have none', () => {
  expect(['runs.db', 'sqlite:runs.db', 'postgres://h/x', 'memory:'].map(storePath)).toEqual([
    'runs.db',
    'runs.db',
    undefined,
    undefined,
  ]);
});

test('an unknown scheme is refused, and no file is created under its name', () => {
  const refusal = expect.objectContaining({ code: 'invalid-argument' });
  expect(() => parseStoreAddress('mysql://root:secret@localhost/x')).toThrow(refusal);
  expect(() => parseStoreAddress('mysql://root:secret@localhost/x')).not.toThrow(/secret/);
});

test.each([
  ['postgres://u:hidden@h/x', 'postgres://u:***@h/x'],
  ['postgres://u:hid@den@h/x', 'postgres://u:***@h/x'],
  ['postgres://u:hid/den?#@h:5432/x', 'postgres://u:***@h:5432/x'],
  ['postgres://:hidden@h/x', 'postgres://:***@h/x'],
  ['postgres://u@h/x?password=hidden&sslmode=require', 'postgres://u@h/x?password=***&sslmode=require'],
  ['postgres://u@h:5432/x', 'postgres://u@h:5432/x'],
  ['postgres://h:5432/x', 'postgres://h:5432/x'],
  ['runs:a@b.db', 'runs:a@b.db'],
])('what is shown of %s has no password', (text, shown) => {
  expect(shownAddress(text)).toBe(shown);
});
