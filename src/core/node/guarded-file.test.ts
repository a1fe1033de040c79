import { linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import {
  appendGuarded,
  checkOutput,
  requireInside,
  makeOwnFolder,
  readGuarded,
  replaceGuarded,
} from './guarded-file.ts';

let root = '';
let precious = '';

beforeEach(() => {
  root = testFolder();
  precious = join(root, 'precious');
  writeFileSync(precious, 'precious');
  mkdirSync(join(root, 'project'));
});

const UNSAFE: unknown = expect.objectContaining({ code: 'unsafe-path' });

test('a link, a second name and a folder are neither read nor appended to', () => {
  const folder = join(root, 'project');
  symlinkSync(precious, join(folder, 'link'));
  linkSync(precious, join(folder, 'second'));
  for (const path of [join(folder, 'link'), join(folder, 'second')]) {
    expect(() => readGuarded(path)).toThrow(UNSAFE);
    expect(() => appendGuarded(path, 'x')).toThrow(UNSAFE);
  }
  expect(() => readGuarded(folder)).toThrow(UNSAFE);
  expect(readFileSync(precious, 'utf8')).toBe('precious');
});

test('a file that others may write is not read, unless that is allowed', () => {
  const path = join(root, 'file');
  writeFileSync(path, 'x');
  chmodSync(path, 0o664);
  expect(() => readGuarded(path)).toThrow(UNSAFE);
  expect(readGuarded(path, { mayBeShared: true })?.toString()).toBe('x');
  expect(() => readGuarded(path, { mayBeShared: true, maxBytes: 0 })).toThrow(UNSAFE);
});

test('a file is replaced and not written through: a link goes, and what it led to stays', () => {
  const path = join(root, 'project/link');
  symlinkSync(precious, path);
  replaceGuarded(path, 'ours');
  expect(readFileSync(precious, 'utf8')).toBe('precious');
  expect(readFileSync(path, 'utf8')).toBe('ours');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a path inside a folder is refused where any part of it is a link, and found through a link to the folder', () => {
  const project = join(root, 'project');
  symlinkSync(project, join(root, 'alias'));
  expect(requireInside(join(root, 'alias'), join(root, 'alias/a/b'))).toBe(
    join(requireInside(root, project + '/a'), 'b'),
  );
  symlinkSync(root, join(project, 'out'));
  for (const path of ['out/precious', 'out/new', 'out', '../precious', '.']) {
    expect(() => requireInside(project, join(project, path))).toThrow(UNSAFE);
  }
  expect(() => checkOutput('out', project)).toThrow(UNSAFE);
  expect(() => checkOutput('out/new', project)).toThrow(UNSAFE);
  checkOutput('/dev/stdout', project);
  checkOutput(join(root, 'elsewhere.html'), project);
});

test('a state folder is for its user only, and one that others may write is refused', () => {
  const state = join(root, 'state');
  makeOwnFolder(state, join(state, 'projects/a'));
  expect(statSync(join(state, 'projects')).mode & 0o777).toBe(0o700);
  chmodSync(join(state, 'projects'), 0o777);
  expect(() => makeOwnFolder(state, join(state, 'projects/a'))).toThrow(UNSAFE);
  chmodSync(join(state, 'projects'), 0o700);
  symlinkSync(root, join(state, 'link'));
  expect(() => makeOwnFolder(state, join(state, 'link'))).toThrow(UNSAFE);
});

test('a folder that cannot be created names what cannot be written, and what to do', () => {
  const home = join(precious, 'home');
  expect(() => makeOwnFolder(home, join(home, '.local', 'share'), 'store-io')).toThrow(
    expect.objectContaining({
      code: 'store-io',
      message: expect.stringMatching(
        /share cannot be created: .*precious is not a folder\. Make it writable, or set HOME, /,
      ),
    }),
  );
});
