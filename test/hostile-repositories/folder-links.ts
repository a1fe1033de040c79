import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Trick } from './trick.ts';

/** Links in the places that coxswain reads and writes. */
export const FOLDER_LINKS: readonly Trick[] = [
  {
    name: 'a log of faults that leads to the user’s shell, and a command as the name of a field',
    make(place) {
      place.link('.coxswain/faults.jsonl', join(place.home, '.bashrc'));
      place.write('coxswain.config.json', JSON.stringify({ [`$(${place.canary('key')})`]: 1 }));
    },
    loud: /trust/,
    also: [
      ['init', '--yes'],
      ['doctor', '--json'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'a configuration that is a link to a private file',
    make: (place) => place.link('coxswain.config.json', join(place.home, '.ssh/id')),
    loud: /trust/,
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
    also: [['init', '--yes']],
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
