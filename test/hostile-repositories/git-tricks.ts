import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Step, Trick } from './trick.ts';

/** Local settings are kept out of git, so that git's own folder is written to. */
const SET_UP: readonly Step[] = [
  ['init', '--yes'],
  ['init', '--undo'],
];
/** Attacks through git: by a clone, or by an archive that contains the git folder. */
export const GIT_TRICKS: readonly Trick[] = [
  {
    name: 'a .git that points to another repository of the user',
    make(place) {
      rmSync(place.at('.git'), { recursive: true });
      place.write('.git', `gitdir: ${join(place.home, 'other/.git')}\n`);
    },
    loud: /does not point back/,
    also: SET_UP,
  },
  {
    name: 'a .git that is a link to that of another repository',
    make: (place) => place.link('.git', join(place.home, 'other/.git')),
    loud: /does not point back/,
    also: SET_UP,
  },
  {
    name: 'a .git whose common folder is that of another repository',
    make: (place) => place.write('.git/commondir', `${join(place.home, 'other/.git')}\n`),
    loud: /commondir/,
    also: SET_UP,
  },
  {
    name: 'a linked work tree whose common folder belongs to another repository',
    make(place) {
      renameSync(place.at('.git'), place.at('fake'));
      place.write('fake/worktrees/x/commondir', `${join(place.home, 'other/.git')}\n`);
      place.write('fake/worktrees/x/gitdir', place.at('.git'));
      place.write('.git', 'gitdir: fake/worktrees/x\n');
    },
    loud: /does not point back/,
    also: SET_UP,
  },
  {
    name: 'a linked work tree reached through a link',
    make(place) {
      rmSync(place.at('.git'), { recursive: true });
      place.link('fake', join(place.home, 'other/.git'));
      place.write('.git', 'gitdir: fake\n');
    },
    loud: /does not point back/,
    also: SET_UP,
  },
  {
    name: 'a .git that points to itself, to nothing, and to a device',
    make(place) {
      rmSync(place.at('.git'), { recursive: true });
      place.write('.git', 'gitdir: .git\n');
      place.write('a/.git', 'gitdir: /dev/zero\n');
    },
    loud: /does not point back/,
    also: SET_UP,
  },
  {
    name: 'a list of files to leave out that is a link',
    make: (place) => place.link('.git/info/exclude', join(place.home, '.bashrc')),
    loud: /it is a link/,
    also: SET_UP,
  },
  {
    name: 'a folder of git with that list which is a link',
    make: (place) => place.link('.git/info', join(place.home, 'other/.git/info')),
    loud: /it is a link/,
    also: SET_UP,
  },
  {
    name: 'programs in the configuration of git',
    make(place) {
      const run = place.canary('git');
      place.git('init', '-q');
      place.write('a', 'a');
      place.git('add', '.');
      for (const name of [
        'core.fsmonitor',
        'core.pager',
        'core.editor',
        'core.sshCommand',
        'diff.external',
        'credential.helper',
        'alias.status',
        'gpg.program',
        'filter.x.clean',
        'filter.x.smudge',
        'uploadpack.packObjectsHook',
      ]) {
        place.git('config', name, `${run}; false`);
      }
      place.write('.gitattributes', '* filter=x diff=x\n');
      place.git('config', 'diff.x.textconv', run);
    },
    also: SET_UP,
  },
  {
    name: 'hooks of git, in its own and in another folder',
    make(place) {
      place.git('init', '-q');
      for (const name of [
        'pre-commit',
        'post-checkout',
        'post-index-change',
        'fsmonitor-watchman',
        'reference-transaction',
      ]) {
        place.program(`.git/hooks/${name}`, name);
        place.program(`hooks/${name}`, name);
      }
      place.git('config', 'core.hooksPath', place.at('hooks'));
    },
    also: SET_UP,
  },
  {
    name: 'a configuration of git that includes and names files of the user',
    make(place) {
      place.git('init', '-q');
      place.git('config', 'include.path', join(place.home, '.ssh/id'));
      place.git('config', 'core.excludesFile', join(place.home, '.bashrc'));
      place.git('config', 'core.attributesFile', join(place.home, '.bashrc'));
      place.git('config', 'core.worktree', place.home);
    },
    also: SET_UP,
  },
  {
    name: 'a bare repository in the place of its work tree',
    make(place) {
      for (const name of ['HEAD', 'config', 'info']) renameSync(place.at(`.git/${name}`), place.at(name));
      rmSync(place.at('.git'), { recursive: true });
      for (const name of ['objects', 'refs']) place.folder(name);
      writeFileSync(place.at('config'), `[core]\n\tbare = true\n\tfsmonitor = "${place.canary('bare')}"\n`);
    },
    also: SET_UP,
  },
  {
    name: 'a bare repository among its folders, in which the session works',
    make(place) {
      place.git('init', '-q', '--bare', 'deep/bare.git');
      place.write('deep/bare.git/config', `[core]\n\tbare = true\n\tfsmonitor = "${place.canary('bare')}"\n`);
    },
    cwd: (place) => place.at('deep/bare.git'),
  },
  {
    name: 'a submodule, which is as good as any repository',
    make(place) {
      const inner = join(place.root, 'outside/inner');
      mkdirSync(inner);
      const outer = place.project;
      place.project = inner;
      place.git('init', '-q');
      place.git('commit', '-qm', 'x', '--allow-empty');
      place.project = outer;
      place.git('init', '-q');
      place.git('submodule', '--quiet', 'add', inner, 'inner');
    },
    cwd: (place) => place.at('inner'),
    also: SET_UP,
    writes: /^\/inner(?:\/\.claude|$)/,
  },
  {
    name: 'an index of git that is cut off, of a future version, and of noise',
    make(place) {
      place.git('init', '-q');
      place.git('add', '.');
      const index = place.at('.git/index');
      const bytes = readFileSync(index);
      writeFileSync(index, Buffer.concat([bytes.subarray(0, bytes.length - 30), Buffer.alloc(5_000, 0x5a)]));
      place.write('.git/sharedindex.00', Buffer.alloc(100, 1));
    },
    also: SET_UP,
  },
  {
    name: 'a .git in every folder above the session that leads out of the project',
    make(place) {
      for (const folder of ['a', 'a/b', 'a/b/c']) place.write(`${folder}/.git`, `gitdir: ${'../'.repeat(40)}etc\n`);
      place.write('a/coxswain.config.json', '{"mode":"shadow"}');
    },
    cwd: (place) => place.at('a/b/c'),
    also: SET_UP,
    writes: /^\/a\/b\/c$/,
  },
];
