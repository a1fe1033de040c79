import { linkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { makeRecords } from '../../src/stores/records-folder.ts';
import type { Trick } from './trick.ts';

/** Where a link in the place of each leads. */
const SIDE_FILES = ['runs.db', 'runs.db-wal', 'runs.db-shm', 'runs.db-journal', 'runs.db-spills', 'runs'] as const;

/** Links in the places that coxswain reads and writes. */
export const FOLDER_LINKS: readonly Trick[] = [
  {
    name: 'a .coxswain that leads to a folder of the user',
    make: (place) => place.link('.coxswain', join(place.root, 'outside')),
    loud: /it is a link/,
    also: [
      ['report'],
      ['runs'],
      ['gc', '--older-than', '30d'],
      ['verify'],
      ['search', 'build'],
      ['trust', '--records'],
    ],
  },
  {
    name: 'a .coxswain that leads nowhere, to a place that would be made',
    make: (place) => place.link('.coxswain', join(place.root, 'outside/made')),
    loud: /it is a link/,
    also: [
      ['analyze', 'src', '--store', '.coxswain/runs.db'],
      ['demo', '--speed', '1000', '--store', '.coxswain/runs.db'],
    ],
  },
  {
    name: 'a .coxswain that leads to itself',
    make: (place) => place.link('.coxswain', '.coxswain'),
    loud: /it is a link/,
    also: [['report']],
  },
  {
    name: 'a .coxswain that leads to another folder of the repository',
    make(place) {
      place.write('data/runs.db', '');
      place.link('.coxswain', 'data');
    },
    loud: /it is a link/,
    also: [['report'], ['view', '--no-open', '--port', '0']],
  },
  {
    name: 'a .coxswain that leads to the records of another project of the user',
    make(place) {
      const other = join(place.home, 'other/.coxswain');
      makeRecords(other, { env: place.env });
      place.link('.coxswain', other);
    },
    loud: /it is a link/,
  },
  {
    name: 'a log of faults that leads to the user’s shell, and a command as the name of a field',
    make(place) {
      place.link('.coxswain/faults.jsonl', join(place.home, '.bashrc'));
      place.write('coxswain.config.json', JSON.stringify({ [`$(${place.canary('key')})`]: 1 }));
    },
    loud: /your coxswain did not create it here/,
    also: [
      ['init', '--yes'],
      ['doctor', '--json'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'an ignore file that would become the global one',
    make: (place) => place.link('.coxswain/.gitignore', join(place.home, '.config/ignore')),
    loud: /it is a link/,
    also: [['trust', '--records']],
  },
  ...SIDE_FILES.map((name): Trick => ({
    name: `a link in the place of ${name}, in a folder that the user has used`,
    async make(place) {
      await place.recorded();
      place.link(
        `.coxswain/${name}`,
        name === 'runs.db-spills' ? join(place.root, 'outside') : join(place.home, '.bashrc'),
      );
    },
    loud: /it is a link/,
    also: [['report'], ['recover', '.coxswain/runs.db']],
  })),
  {
    name: 'an ignore file that becomes a link once the user has used the folder',
    async make(place) {
      await place.recorded();
      place.link('.coxswain/.gitignore', join(place.home, '.ssh/id'));
    },
    loud: /it is a link/,
  },
  ...(['runs.db', 'runs.db-wal', '.gitignore'] as const).map((name): Trick => ({
    name: `a hard link to a file of the user in the place of ${name}`,
    async make(place) {
      await place.recorded();
      rmSync(place.at(`.coxswain/${name}`), { force: true });
      linkSync(join(place.home, '.bashrc'), place.at(`.coxswain/${name}`));
    },
    loud: /second name/,
  })),
  {
    name: 'a spilled event that is a link to a private file',
    async make(place) {
      await place.recorded();
      const name = `${'0'.repeat(18)}-${'0'.repeat(16)}-1-abc.spill`;
      place.link(`.coxswain/runs.db-spills/${name}`, join(place.home, '.ssh/id'));
    },
    loud: /damaged/,
  },
  {
    name: 'a configuration that is a link to a private file',
    make: (place) => place.link('coxswain.config.json', join(place.home, '.ssh/id')),
    loud: /invalid symbol|link/,
  },
  {
    name: 'code as configuration that is a link to a file of the user',
    make(place) {
      writeFileSync(join(place.root, 'outside/config.ts'), `throw new Error('it ran')`);
      place.link('coxswain.config.ts', join(place.root, 'outside/config.ts'));
    },
    loud: /trust/,
  },
  {
    name: 'a folder of settings that leads out of the project',
    make: (place) => place.link('.claude', join(place.root, 'outside')),
    loud: /it is a link/,
    also: [
      ['init', '--yes'],
      ['init', '--http', '--yes'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'settings that lead to the user’s own settings',
    make(place) {
      writeFileSync(join(place.home, '.claude/settings.json'), '{}\n');
      place.link('.claude/settings.json', join(place.home, '.claude/settings.json'));
    },
    loud: /it is a link/,
    also: [
      ['init', '--yes'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'local settings that lead to a file that would be made',
    make: (place) => place.link('.claude/settings.local.json', join(place.root, 'outside/made.json')),
    loud: /it is a link/,
    also: [
      ['init', '--yes'],
      ['init', '--http', '--yes'],
    ],
  },
  {
    name: 'settings that are a link to a private file',
    make: (place) => place.link('.claude/settings.json', join(place.home, '.ssh/id')),
    loud: /it is a link/,
    also: [['init', '--shared', '--dry-run']],
  },
  {
    name: 'a configuration that init would write through',
    make: (place) => place.link('coxswain.config.json', join(place.root, 'outside/made.json')),
    loud: /cannot be read/,
    also: [['init', '--deadline', '45m', '--yes']],
    writes: /^\/\.claude/,
  },
  {
    name: 'links in the place of reports, exports and journals',
    make(place) {
      const target = join(place.home, '.bashrc');
      for (const name of ['report.html', 'runs.jsonl', 'journal']) place.link(name, target);
      place.write('run.jsonl', RUN);
    },
    loud: /it is a link/,
    also: [
      ['report', 'run.jsonl', '--html', 'report.html'],
      ['backtest', 'run.jsonl', '--workers', '1', '--resume', 'journal'],
      ['export', '--to', 'runs.jsonl', '--store', 'nothing.db'],
    ],
  },
  {
    name: 'a folder on the way to a report that leads out of the project',
    make(place) {
      place.link('out', join(place.root, 'outside'));
      place.write('run.jsonl', RUN);
    },
    loud: /it is a link/,
    also: [
      ['report', 'run.jsonl', '--html', 'out/report.html'],
      ['export', '--to', 'out/runs.jsonl'],
    ],
  },
  {
    name: 'a path to the project that is the user’s own link',
    make: (place) => symlinkSync(place.project, join(place.root, 'way')),
    cwd: (place) => join(place.root, 'way'),
  },
];

const RUN = `${JSON.stringify({ id: 'one', calls: [{ tool: 'bash', args: { command: 'make' }, result: 'no rule', isError: true }] })}\n`;
