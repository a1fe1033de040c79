import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { CoxswainError } from '../../core/base/error.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import type { ConfigPlaces } from './find-config.ts';
import { realPath } from '../../core/node/git-folder.ts';
import { loadConfigSync } from './load-config.ts';
import { listTrust, revokeTrust, trustProject } from './trust-project.ts';

let root = '';
let places: ConfigPlaces = {};

beforeEach(() => {
  const folder = testFolder();
  root = realPath(folder) ?? folder;
  places = { env: {}, homeFolder: join(root, 'home') };
  mkdirSync(join(root, 'project/.git'), { recursive: true });
  mkdirSync(join(root, 'project/sub'));
});

function write(config: unknown): void {
  writeFileSync(join(root, 'project/coxswain.config.json'), JSON.stringify(config));
}

test('a project is trusted with its current files', () => {
  write({ completion: { command: ['npm', 'test'] } });
  writeFileSync(join(root, 'project/coxswain.config.ts'), 'export default {};');
  expect(trustProject(join(root, 'project/sub'), places)).toEqual({
    folder: join(root, 'project'),
    files: ['coxswain.config.json', 'coxswain.config.ts'],
  });
  expect(loadConfigSync({ ...places, projectFolder: join(root, 'project') }).untrusted).toEqual([]);
});

test('the list of trusted projects shows changed and deleted ones', () => {
  write({ mode: 'shadow' });
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'other/coxswain.config.json'), '{}');
  trustProject(join(root, 'project'), places);
  trustProject(join(root, 'other'), places);
  const states = (): readonly string[] => listTrust(places).map(({ state }) => state);
  expect(states()).toEqual(['trusted', 'trusted']);
  write({ mode: 'steer' });
  rmSync(join(root, 'other'), { recursive: true });
  expect(states()).toEqual(['gone', 'changed']);
});

test('a folder without a configuration is not trusted', () => {
  mkdirSync(join(root, 'empty/.git'), { recursive: true });
  expect(() => trustProject(join(root, 'empty'), places)).toThrow(/empty has no configuration to trust$/);
  expect(listTrust(places)).toEqual([]);
});

test('trust is revoked through any path to the project, also if the folder is deleted', () => {
  write({ mode: 'shadow' });
  const project = join(root, 'project');
  symlinkSync(project, join(root, 'link'));
  trustProject(project, places);
  expect(revokeTrust(join(root, 'link'), places)).toBe(project);
  expect(revokeTrust(project, places)).toBeUndefined();
  trustProject(project, places);
  rmSync(project, { recursive: true });
  expect(revokeTrust(project, places)).toBe(project);
  expect(listTrust(places)).toEqual([]);
});

test('a missing folder cannot be trusted', () => {
  expect(() => trustProject(join(root, 'nowhere'), places)).toThrow(CoxswainError);
  expect(listTrust(places)).toEqual([]);
});
