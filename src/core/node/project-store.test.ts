import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, lstatSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { realPath, makeDataFolder, projectStoreFile } from './git-folder.ts';

let root = '';
const fileOf = (folder: string): string => projectStoreFile(join(root, folder), { env: { HOME: root } });

beforeEach(() => {
  const folder = testFolder();
  root = realPath(folder) ?? folder;
});

function git(folder: string, ...args: readonly string[]): void {
  const own = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
  const { status, stderr } = spawnSync('git', [...own, ...args], { cwd: join(root, folder), encoding: 'utf8' });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
}

function write(path: string, text = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function repository(folder: string): void {
  mkdirSync(join(root, folder), { recursive: true });
  git(folder, 'init', '-q');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'x');
}

test('the file is in the data folder, named for the project’s folder and a hash of its path', () => {
  mkdirSync(join(root, 'my app'));
  expect(fileOf('my app')).toMatch(/\/\.local\/share\/coxswain\/my-app-[0-9a-f]{16}\.db$/);
  const moved = projectStoreFile(join(root, 'my app'), { env: { HOME: root, XDG_DATA_HOME: '/data' } });
  expect(moved).toMatch(/^\/data\/coxswain\/my-app-[0-9a-f]{16}\.db$/);
  const relative = projectStoreFile(join(root, 'my app'), { env: { HOME: root, XDG_DATA_HOME: 'data' } });
  expect(relative).toBe(fileOf('my app'));
  for (const name of ['..a', 'é', '$(x)', '-', 'x'.repeat(200)]) {
    mkdirSync(join(root, name));
    expect(fileOf(name).slice(fileOf(name).lastIndexOf('/') + 1)).toMatch(/^[\w-][\w.-]{0,39}-[0-9a-f]{16}\.db$/);
  }
});

test('subfolders, links and the work trees of a repository have one file; a clone and a submodule have another', () => {
  repository('app');
  git('app', 'worktree', 'add', '-q', '../tree');
  mkdirSync(join(root, 'tree/src'));
  symlinkSync(join(root, 'app'), join(root, 'link'));
  const shared = fileOf('app');
  for (const folder of ['tree', 'tree/src', 'link', 'app/.git/..']) expect(fileOf(folder)).toBe(shared);
  git('.', 'clone', '-q', 'app', 'clone');
  git('app', 'submodule', '--quiet', 'add', '../clone', 'module');
  expect(new Set([shared, fileOf('clone'), fileOf('app/module')]).size).toBe(3);
});

test('work trees of a bare repository have one file', () => {
  repository('app');
  git('.', 'clone', '-q', '--bare', 'app', 'bare.git');
  git('bare.git', 'worktree', 'add', '-q', '../one');
  git('bare.git', 'worktree', 'add', '-q', '-b', 'b', '../two');
  expect(fileOf('one')).toBe(fileOf('two'));
  expect(fileOf('one')).toMatch(/\/bare-[0-9a-f]{16}\.db$/);
});

test('a folder keeps its file when it becomes a repository', () => {
  mkdirSync(join(root, 'app'));
  const before = fileOf('app');
  repository('app');
  expect(fileOf('app')).toBe(before);
});

test('a .git that points to another repository, without that one pointing back, has its own file', () => {
  repository('victim');
  git('victim', 'worktree', 'add', '-q', '../tree');
  const victim = fileOf('victim');
  mkdirSync(join(root, 'evil'));
  const alone = fileOf('evil');
  for (const target of ['victim/.git/worktrees/tree', 'victim/.git', 'nowhere', '../../../../proc/self', 'evil/.git']) {
    write('evil/.git', `gitdir: ${join(root, target)}\n`);
    expect(fileOf('evil')).toBe(alone);
  }
  // Its own folder that names the common folder of the other.
  write('evil/own/worktrees/x/commondir', join(root, 'victim/.git'));
  write('evil/own/worktrees/x/gitdir', join(root, 'evil/.git'));
  write('evil/.git', `gitdir: ${join(root, 'evil/own/worktrees/x')}\n`);
  expect([fileOf('evil'), victim === alone]).toEqual([alone, false]);
  // A folder as .git that names another one.
  rmSync(join(root, 'evil/.git'));
  write('evil/.git/commondir', join(root, 'victim/.git'));
  expect(fileOf('evil')).toBe(alone);
});

test.skipIf(process.platform === 'win32')(
  'a .git that is a link, a pipe, a device, endless or unreadable is not followed',
  () => {
    repository('victim');
    mkdirSync(join(root, 'evil'));
    const alone = fileOf('evil');
    const dotGit = join(root, 'evil/.git');
    const kinds: readonly (() => void)[] = [
      () => symlinkSync(join(root, 'victim/.git'), dotGit),
      () => symlinkSync('/dev/zero', dotGit),
      () => symlinkSync(dotGit, dotGit),
      () => spawnSync('mkfifo', [dotGit]),
      () => linkSync(join(root, 'victim/.git/HEAD'), dotGit),
      () => {
        writeFileSync(dotGit, 'gitdir: x');
        truncateSync(dotGit, 1024 ** 4);
      },
      () => writeFileSync(dotGit, Buffer.from([0xff, 0, 0xfe])),
      () => writeFileSync(dotGit, `gitdir: ${'x'.repeat(60_000)}\n`),
      () => mkdirSync(dotGit, 0o000),
    ];
    for (const make of kinds) {
      make();
      expect(fileOf('evil')).toBe(alone);
      // Only root removes a folder that it may not read.
      if (lstatSync(dotGit).isDirectory()) chmodSync(dotGit, 0o700);
      rmSync(dotGit, { recursive: true, force: true });
    }
  },
);

test.skipIf(process.platform === 'win32')('a data folder that others can write to is refused', () => {
  const env = { HOME: root };
  const file = projectStoreFile(root, { env });
  makeDataFolder(file, { env });
  chmodSync(dirname(file), 0o777);
  expect(() => makeDataFolder(file, { env })).toThrow('other users can write to it');
  makeDataFolder(join(root, 'elsewhere/runs.db'), { env });
});
