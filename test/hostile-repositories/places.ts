import { chmodSync } from 'node:fs';
import { join } from 'node:path';

import type { Step, Trick } from './trick.ts';

const RUN = { calls: [{ tool: 'bash', args: { command: 'make' }, result: 'no rule', isError: true }] };
/** Names that act on a terminal, on a shell, or as a path. */
const NAMES = [
  '\u001b]0;x\u0007\u001b[2J',
  'a\nfail  hook alive',
  '\u202Egpj.exe',
  "'; touch x; '",
  '$(touch x)',
  '--help',
  '-',
];
const EVERYTHING: readonly Step[] = [
  ['config', 'check'],
  ['report'],
  ['status'],
  ['init', '--yes'],
  ['doctor', '--json'],
  ['init', '--undo'],
  ['trust'],
  ['trust', '--list'],
];

/** Attacks through file modes, which do not apply to root. */
const MODES: readonly Trick[] = [
  {
    name: 'a folder that may not be written to',
    make(place) {
      chmodSync(place.project, 0o555);
      place.endWith(() => chmodSync(place.project, 0o755));
    },
    loud: /may not be written to/,
    also: [['report'], ['status'], ['runs'], ['init', '--yes']],
  },
];

/** Names of files and runs, and folders that are not what they seem. */
export const PLACES: readonly Trick[] = [
  ...Object.entries({
    'escapes and line breaks': 'pro\u001b[31mject\u0007\nfail  hook alive',
    'signs that turn the direction of writing': 'pro\u202Etcej\u2066x',
    'a command for shells': `a'; touch x; $(touch y) "\`touch z\`"`,
    'the signs of addresses and patterns': 'a?mode=memory&x#y%00*[z]',
    'more bytes than most': 'ü'.repeat(120),
  }).map(([what, name]): Trick => ({
    name: `a name with ${what}`,
    make: (place) => place.rename(name),
    also: EVERYTHING,
  })),
  {
    name: 'transcripts whose names act on terminals and shells',
    make(place) {
      for (const [index, name] of NAMES.entries())
        place.write(`runs/${name}.json`, JSON.stringify({ id: `r${index}`, ...RUN }));
      for (const name of NAMES) place.write(`bad/${name}.json`, '{');
    },
    also: [
      ['analyze', 'runs'],
      ['analyze', 'runs', '--json'],
      ['analyze', 'bad'],
      ['report', 'runs'],
      ['report', 'bad'],
      ['backtest', 'runs', '--workers', '1'],
      ['backtest', 'bad', '--workers', '1'],
      ['view', 'runs', '--no-open', '--port', '0'],
    ],
  },
  {
    name: 'transcripts whose runs are named as paths, kept in each kind of store',
    make(place) {
      const ids = [
        ...NAMES,
        '../../outside/x',
        join(place.root, 'outside/y'),
        '.',
        '..',
        '',
        'CON',
        'a/b',
        'x'.repeat(5_000),
        '\u0000',
        '\ud800',
      ];
      place.write('runs.jsonl', ids.map((id) => `${JSON.stringify({ id, ...RUN })}\n`).join(''));
    },
    also: [
      ['analyze', 'runs.jsonl', '--store', 'saved.db'],
      ['runs', '--store', 'saved.db'],
      ['report', 'saved.db', '--since', 'all'],
      ['export', '--store', 'saved.db', '--to', 'saved.jsonl'],
    ],
    writes: /^\/saved/,
  },
  {
    name: 'sessions and tools whose names are paths and escapes',
    make: () => {},
    also: [...NAMES, '../../outside/x', '/etc/x', '.', '..', 'x'.repeat(5_000), '\u0000', '\ud800'].map((name) => ({
      event: {
        session_id: name,
        hook_event_name: 'PreToolUse',
        tool_name: name,
        tool_use_id: name,
        tool_input: { [name]: name },
      },
    })),
  },
  {
    name: 'a folder that is deleted while the session works in it',
    make: () => {},
    cwd: (place) => place.at('gone'),
    isFolderGone: true,
    loud: /ENOENT|is gone|no such/,
    also: [['report'], ['status'], ['config', 'check'], ['runs'], ['analyze', 'x']],
    isRecorded: false,
  },
  ...(process.getuid?.() === 0 ? [] : MODES),
];
