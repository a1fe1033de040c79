import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import type { StatePlaces } from '../src/core/node/state-places.ts';
import { costGrowth, MOST_LINEAR_GROWTH } from './support/cost-growth.ts';
import { testFolder } from './support/test-folder.ts';
import {
  adoptRecords,
  examineRecords,
  guardStore,
  makeRecords,
  openRecords,
  refuseLinks,
} from '../src/stores/records-folder.ts';
import { commonFolder, findGit, isTracked } from '../src/stores/git-index.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';

let root = '';
let project = '';
let folder = '';
let places: StatePlaces = { env: {} };

beforeEach(() => {
  root = testFolder();
  project = join(root, 'project');
  folder = join(project, '.coxswain');
  places = { env: { XDG_STATE_HOME: join(root, 'state') } };
  mkdirSync(project);
});

function kindOf(at = folder): string {
  const verdict = examineRecords(at, places);
  return verdict.kind === 'refused' ? verdict.refusal.kind : verdict.kind;
}

function git(...args: readonly string[]): void {
  const config = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
  const { status, stderr } = spawnSync('git', [...config, ...args], { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

test('a folder that coxswain made here is used, and keeps itself out of git', () => {
  expect(kindOf()).toBe('absent');
  expect(makeRecords(folder, places).kind).toBe('ours');
  expect(kindOf()).toBe('ours');
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toMatch(/^# coxswain [0-9a-f]{32}\n\*\n$/);
  expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(project)).toEqual(['.coxswain']);
});

test('a folder that came with the project is refused, whatever is in it', () => {
  mkdirSync(folder);
  writeFileSync(join(folder, 'runs.db'), '');
  expect(kindOf()).toBe('unmarked');
  writeFileSync(join(folder, '.gitignore'), `# coxswain ${'0'.repeat(32)}\n*\n`);
  expect(kindOf()).toBe('unmarked');
  expect(makeRecords(folder, places).kind).toBe('refused');
});

test('an empty folder decides nothing, and gets a mark', () => {
  mkdirSync(folder);
  expect(makeRecords(folder, places).kind).toBe('ours');
});

test('a link is refused, also one that leads nowhere or to a folder of ours', () => {
  const other = join(root, 'other/.coxswain');
  mkdirSync(join(root, 'other'));
  makeRecords(other, places);
  for (const target of [other, join(root, 'nowhere')]) {
    symlinkSync(target, folder);
    expect(kindOf()).toBe('unsafe');
    expect(() => adoptRecords(folder, places)).toThrow(/link/);
    expect(() => openRecords(join(folder, 'runs.db'), places)).toThrow(/link/);
    rmSync(folder);
  }
  expect(existsSync(join(root, 'nowhere'))).toBe(false);
});

test.each(['runs.db', 'runs.db-wal', 'runs.db-shm', 'runs.db-journal', 'runs'])(
  'a link or a second name in the place of %s is refused',
  (name) => {
    const precious = join(root, 'precious');
    writeFileSync(precious, 'precious');
    makeRecords(folder, places);
    symlinkSync(precious, join(folder, name));
    expect(kindOf()).toBe('unsafe');
    rmSync(join(folder, name));
    linkSync(precious, join(folder, name));
    expect(kindOf()).toBe('unsafe');
    expect(readFileSync(precious, 'utf8')).toBe('precious');
  },
);

test('a mark is worth nothing in a copy, nor after the project was moved, until the folder is accepted', () => {
  makeRecords(folder, places);
  writeFileSync(join(folder, 'runs.db'), '');
  renameSync(project, join(root, 'moved'));
  project = join(root, 'moved');
  folder = join(project, '.coxswain');
  expect(kindOf()).toBe('unmarked');
  adoptRecords(folder, places);
  expect(kindOf()).toBe('ours');
  cpSync(folder, join(root, 'copy'), { recursive: true });
  rmSync(folder, { recursive: true });
  // While the inode of the one that was removed is free: it must not be taken for it.
  renameSync(join(root, 'copy'), folder);
  expect(kindOf()).toBe('unmarked');
});

test('a new home folder does not know the mark, and the folder can be accepted with its ignore file as it is', () => {
  makeRecords(folder, places);
  const ignore = join(folder, '.gitignore');
  writeFileSync(ignore, `${readFileSync(ignore, 'utf8')}!labels.csv\n`);
  places = { env: {}, homeFolder: join(root, 'home') };
  const verdict = examineRecords(folder, places);
  expect(verdict).toMatchObject({
    refusal: { kind: 'unmarked', fix: expect.stringContaining('coxswain trust --records') },
  });
  adoptRecords(folder, places);
  expect(kindOf()).toBe('ours');
  expect(readFileSync(ignore, 'utf8')).toMatch(/^# coxswain [0-9a-f]{32}\n\*\n!labels.csv\n$/);
});

test.each([
  ['plain', (): void => undefined],
  ['version 4', (): void => git('config', 'index.version', '4')],
  ['split', (): void => git('config', 'core.splitIndex', 'true')],
])('a folder that git tracks is refused: an index that is %s', (_name, configure) => {
  git('init', '-q');
  configure();
  for (const name of ['.a', 'z', 'src/x.ts']) {
    mkdirSync(join(project, 'src'), { recursive: true });
    writeFileSync(join(project, name), name);
  }
  git('add', '.');
  makeRecords(folder, places);
  expect(kindOf()).toBe('ours');
  writeFileSync(join(folder, 'runs.db'), 'x');
  git('add', '-f', '.coxswain/runs.db');
  expect(kindOf()).toBe('tracked');
  expect(() => adoptRecords(folder, places)).toThrow(/git rm/);
  git('commit', '-qm', 'x');
  expect(kindOf()).toBe('tracked');
  git('rm', '-q', '--cached', '.coxswain/runs.db');
  git('update-index', '--no-split-index');
  expect(kindOf()).toBe('ours');
});

test('a folder that git tracks is refused in a submodule, a linked work tree and a folder of a repository', () => {
  git('init', '-q');
  mkdirSync(join(project, 'sub/.coxswain'), { recursive: true });
  writeFileSync(join(project, 'sub/.coxswain/runs.db'), 'x');
  git('add', '.');
  git('commit', '-qm', 'x');
  expect(kindOf(join(project, 'sub/.coxswain'))).toBe('tracked');
  git('worktree', 'add', '-q', join(root, 'tree'));
  expect(kindOf(join(root, 'tree/sub/.coxswain'))).toBe('tracked');
  const outer = join(root, 'outer');
  mkdirSync(outer);
  const inner = project;
  project = outer;
  git('init', '-q');
  git('submodule', '--quiet', 'add', inner, 'inner');
  expect(kindOf(join(outer, 'inner/sub/.coxswain'))).toBe('tracked');
});

test('the time to read an index grows with its length, also where each name holds the one before', () => {
  const folderOf = (entries: number): string => {
    const head = Buffer.alloc(12);
    head.write('DIRC', 'latin1');
    head.writeUInt32BE(4, 4);
    head.writeUInt32BE(entries, 8);
    // An entry that drops nothing of the name before and adds a letter.
    const entry = Buffer.concat([Buffer.alloc(63), Buffer.from('a\0')]);
    const place = join(root, `git-${entries}`);
    mkdirSync(place);
    writeFileSync(
      join(place, 'index'),
      Buffer.concat([head, Buffer.alloc(entries * entry.length, entry), Buffer.alloc(20)]),
    );
    return place;
  };
  const folders = { 1: folderOf(4_000), 32: folderOf(128_000) };
  const growth = costGrowth((factor) =>
    expect(isTracked({ top: project, folder: folders[factor] }, folder)).toBe(false),
  );
  expect(growth).toBeLessThan(MOST_LINEAR_GROWTH);
});

test('the folder of git that is written to is the project’s own: a pointer counts where the other end points back', () => {
  const common = (at: string): string => {
    const place = findGit(at);
    return place === undefined ? '' : commonFolder(place);
  };
  git('init', '-q');
  git('commit', '-qm', 'x', '--allow-empty');
  const own = join(project, '.git');
  expect(common(project)).toBe(own);
  git('worktree', 'add', '-q', join(root, 'tree'));
  expect(common(join(root, 'tree'))).toBe(own);
  const inner = project;
  project = join(root, 'outer');
  mkdirSync(project);
  git('init', '-q');
  git('submodule', '--quiet', 'add', inner, 'inner');
  expect(common(join(project, 'inner'))).toBe(join(project, '.git/modules/inner'));
  const cloned = join(root, 'cloned');
  mkdirSync(cloned);
  for (const target of [own, join(own, 'worktrees/tree'), join(project, '.git/modules/inner')]) {
    writeFileSync(join(cloned, '.git'), `gitdir: ${target}\n`);
    expect(() => common(cloned)).toThrow(/does not point back/);
    rmSync(join(cloned, '.git'));
    symlinkSync(target, join(cloned, '.git'));
    expect(() => common(cloned)).toThrow(/does not point back/);
    rmSync(join(cloned, '.git'));
  }
  mkdirSync(join(cloned, '.git'));
  writeFileSync(join(cloned, '.git/commondir'), own);
  expect(() => common(cloned)).toThrow(/commondir/);
});

test('git is not run: a repository’s configuration can name programs', () => {
  git('init', '-q');
  const ran = join(root, 'ran');
  writeFileSync(join(project, 'a'), 'a');
  git('add', '.');
  git('config', 'core.fsmonitor', `touch ${ran}; false`);
  makeRecords(folder, places);
  expect(kindOf()).toBe('ours');
  expect(existsSync(ran)).toBe(false);
});

test('while a folder is refused runs go to the user’s own state folder', () => {
  const store = { kind: 'sqlite', address: join(folder, 'runs.db') } as const;
  expect(guardStore(store, places)).toEqual({ store });
  symlinkSync(root, folder);
  const guarded = guardStore(store, places);
  expect(guarded.store.address.startsWith(join(root, 'state/coxswain/projects/'))).toBe(true);
  expect(guarded.refusal).toMatchObject({ kind: 'unsafe' });
  expect(guardStore({ kind: 'sqlite', address: join(root, 'x.db') }, places)).not.toHaveProperty('refusal');
});

test('processes that begin at once make one folder', async () => {
  const verdicts = await Promise.all(Array.from({ length: 8 }, async () => makeRecords(folder, places).kind));
  expect(new Set(verdicts)).toEqual(new Set(['ours']));
});

test('a store that a program names is made with its mark, and never opened through a link', async () => {
  const path = join(folder, 'runs.db');
  const store = sqliteStore(path);
  await store.close();
  expect(examineRecords(folder, { env: process.env }).kind).toBe('ours');
  const precious = join(root, 'precious');
  writeFileSync(precious, 'precious');
  rmSync(path);
  symlinkSync(precious, path);
  expect(() => sqliteStore(path)).toThrow(expect.objectContaining({ code: 'unsafe-path' }));
  expect(() => refuseLinks(path)).toThrow(/link/);
  expect(readFileSync(precious, 'utf8')).toBe('precious');
});
