import { mkdirSync } from 'node:fs';

import type { Trick } from './trick.ts';

const TERABYTE = 1024 ** 4;
const GIGABYTE = 1024 ** 3;

/** Pipes, sockets, devices, folders and files without end in the places of files. */
export const ODD_FILES: readonly Trick[] = [
  { name: 'a pipe as configuration', make: (place) => place.pipe('coxswain.config.json'), loud: /not a regular file/ },
  { name: 'a pipe as code', make: (place) => place.pipe('coxswain.config.ts'), loud: /not a regular file/ },
  {
    name: 'a configuration that leads to a device without end',
    make: (place) => place.link('coxswain.config.json', '/dev/zero'),
    loud: /not a regular file/,
  },
  {
    name: 'a configuration of a terabyte',
    make: (place) => place.sparse('coxswain.config.json', TERABYTE),
    loud: /bytes/,
    also: [['trust']],
  },
  {
    name: 'a folder as configuration',
    make: (place) => place.folder('coxswain.config.json'),
    loud: /not a regular file/,
  },
  ...(['settings.json', 'settings.local.json'] as const).flatMap((name): readonly Trick[] => [
    {
      name: `a pipe in the place of ${name} of Claude Code`,
      make: (place) => place.pipe(`.claude/${name}`),
      loud: /regular file/,
      also: initOf(name),
    },
    {
      name: `a device without end in the place of ${name} of Claude Code`,
      make: (place) => place.link(`.claude/${name}`, '/dev/zero'),
      loud: /link|regular file/,
      also: initOf(name),
    },
    {
      name: `a terabyte in the place of ${name} of Claude Code`,
      make: (place) => place.sparse(`.claude/${name}`, TERABYTE),
      loud: /bytes/,
      also: initOf(name),
    },
  ]),
  {
    name: 'a pipe as the index of git',
    make: (place) => place.pipe('.git/index'),
    also: [['init', '--dry-run']],
  },
  {
    name: 'an index of git of 400 GB',
    make: (place) => place.sparse('.git/index', 400 * GIGABYTE),
    also: [['init', '--dry-run']],
  },
  { name: 'a pipe in the place of .git', make: (place) => place.pipe('.git'), also: [['init', '--dry-run']] },
  {
    name: 'a pipe as info/exclude',
    make: (place) => place.pipe('.git/info/exclude'),
    loud: /not a regular file/,
    also: [['init', '--yes']],
  },
  {
    name: 'pipes, sockets and links without end among its transcripts',
    async make(place) {
      place.pipe('runs/a.jsonl');
      await place.socket('runs/b.jsonl');
      place.link('runs/c', '..');
      place.link('runs/d.jsonl', 'd.jsonl');
      place.link('runs/e.jsonl', '/dev/zero');
      place.write('runs/f.jsonl', '{"id":"one","calls":[]}\n');
    },
    also: [
      ['analyze', 'runs'],
      ['report', 'runs'],
      ['backtest', 'runs', '--workers', '1'],
      ['view', 'runs', '--no-open', '--port', '0'],
    ],
  },
  {
    name: 'a folder a thousand levels deep',
    make(place) {
      let path = place.project;
      for (let level = 0; level < 1_000; level += 1) mkdirSync((path += '/d'));
    },
    also: [
      ['analyze', '.'],
      ['report', '.'],
    ],
  },
];

function initOf(name: 'settings.json' | 'settings.local.json'): NonNullable<Trick['also']> {
  return [
    ['init', ...(name === 'settings.json' ? ['--shared'] : []), '--yes'],
    ['init', '--undo'],
  ];
}
