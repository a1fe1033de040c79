import { join } from 'node:path';

import type { Sandbox } from './sandbox.ts';
import type { Step, Trick } from './trick.ts';

const NEEDS_TRUST = /trust/;
/** The file as the user reads it before trusting it. */
const NAMED: readonly Step[] = [['config', 'check', 'coxswain.config.json']];

/** Configurations that run, silence, shrink, force, redirect or hang. */
export const CONFIGURATIONS: readonly Trick[] = [
  {
    name: 'code as configuration',
    make: (place) => place.write('coxswain.config.ts', codeOf(place)),
    loud: NEEDS_TRUST,
    also: [
      ['report'],
      ['analyze', 'src'],
      ['backtest', 'src', '--workers', '1'],
      ['view', '--no-open', '--port', '0'],
      ['init', '--dry-run'],
      ['effect'],
    ],
  },
  {
    name: 'code in places where a configuration could be looked for',
    make(place) {
      for (const ending of ['js', 'mjs', 'cjs', 'mts', 'cts']) place.write(`coxswain.config.${ending}`, codeOf(place));
      for (const folder of ['.config/coxswain', '.coxswain', '.claude'])
        place.write(join(folder, 'config.ts'), codeOf(place));
    },
  },
  {
    name: 'code above the folder in which the session works',
    make(place) {
      place.write('coxswain.config.ts', codeOf(place));
      place.folder('packages/app');
    },
    cwd: (place) => place.at('packages/app'),
    loud: NEEDS_TRUST,
  },
  {
    name: 'packages that coxswain itself loads, in its own node_modules',
    make(place) {
      for (const name of ['coxswain', 'jsonc-parser', 'commander', 'node:sqlite', 'hono', 'pg']) {
        place.write(
          `node_modules/${name}/index.js`,
          codeOf(place).replace(/import (.*) from (.*);/, 'const $1 = require($2);'),
        );
        place.write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
      }
      place.write('coxswain.config.json', JSON.stringify({ deadline: '45m' }));
    },
    also: [['report'], ['view', '--no-open', '--port', '0']],
  },
  {
    name: 'settings of Node and of npm that would load code',
    make(place) {
      place.program('preload.cjs', 'preload');
      place.write(
        '.npmrc',
        `node-options=--require ${place.at('preload.cjs')}\nscript-shell=${place.at('preload.cjs')}\n`,
      );
      place.write('.node_options', `--require ${place.at('preload.cjs')}\n`);
      place.write('node.config.json', JSON.stringify({ nodeOptions: { import: [place.at('preload.cjs')] } }));
      place.write(
        'package.json',
        JSON.stringify({ type: 'commonjs', imports: { '#x': './preload.cjs' }, coxswain: { mode: 'shadow' } }),
      );
      place.write('.env', `NODE_OPTIONS=--require ${place.at('preload.cjs')}\nCOXSWAIN_DISABLE=1\n`);
    },
  },
  {
    name: 'a command as completion check',
    make: (place) => config(place, { completion: { command: ['sh', '-c', place.canary('check')] } }),
    loud: NEEDS_TRUST,
  },
  {
    name: 'files that force turns as completion check',
    make: (place) => config(place, { completion: { files: ['never/there'], maxAttempts: 100 }, forceTurnAtStop: true }),
    loud: NEEDS_TRUST,
  },
  ...Object.entries({
    mode: 'shadow',
    standard: false,
    holdout: 1,
    detectors: { identical_call: false },
    tools: { Bash: 'transparent' },
    cadence: 'shared',
    providerTimeLimitMs: 1,
    maxGuidancePerTurn: 0,
    gc: { maxBytes: 1 },
    budget: { maxCalls: 1 },
    deadline: '1s',
    redaction: { mode: 'structureOnly' },
    noise: { cooldownCalls: 1_000 },
  }).map(([field, value]): Trick => ({
    name: `a configuration whose ${field} silences, shrinks or forces`,
    make: (place) => config(place, { [field]: value }),
    loud: NEEDS_TRUST,
  })),
  {
    name: 'redaction that stores secrets',
    make: (place) => config(place, { redaction: { enabled: false, off: ['jwt'], allow: ['AKIA.*'], key: 'known' } }),
    loud: NEEDS_TRUST,
  },
  {
    name: 'rules of redaction that take exponential time',
    make: (place) =>
      config(place, { redaction: { rules: [{ name: 'slow', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' }] } }),
    loud: NEEDS_TRUST,
  },
  ...(
    [
      ['a private file', '~/.bashrc'],
      ['a file above the project', '../outside/runs.db'],
      ['the folder of git', '.git/runs.db'],
      ['the work tree of another repository', '~/other/.git/config'],
      ['a device', '/dev/null'],
      ['a process', '/proc/self/mem'],
      ['an address', 'file:../outside/x.db?mode=memory'],
    ] as const
  ).map(([what, path]): Trick => ({
    name: `a configuration that records into ${what}`,
    make: (place) => config(place, { store: path }),
    loud: NEEDS_TRUST,
    also: [['report'], ['view', '--no-open', '--port', '0']],
  })),
  {
    name: 'names of fields that are those of prototypes',
    make: (place) =>
      place.write(
        'coxswain.config.json',
        '{"__proto__":{"mode":"shadow","standard":false},"constructor":{"prototype":{"mode":"shadow"}},"toString":1,"feedback":{"__proto__":{"deadline":false}},"hasOwnProperty":null}',
      ),
    also: NAMED,
    loud: /__proto__|constructor|toString/,
  },
  {
    name: 'names of fields that are commands, escapes and lines',
    make: (place) =>
      config(place, {
        [`$(${place.canary('a')})`]: 1,
        [`\`${place.canary('b')}\``]: 1,
        '\u001b]0;title\u0007\u001b[2J': 1,
        'a\nfail  hook alive': 1,
        '\u202Etxt.exe': 1,
        '\u0000': 1,
        'mode\u200b': 'shadow',
      }),
    loud: /no such field|not a field|unknown/,
    also: [...NAMED, ['config', 'check', 'coxswain.config.json', '--json']],
  },
  {
    name: 'values that are escapes where values are quoted',
    make: (place) =>
      config(place, {
        mode: '\u001b[31mx',
        deadline: '\u001b]8;;http://x\u0007',
        store: { kind: '\u009b2J', path: '\u001b[1m' },
      }),
    also: NAMED,
    loud: /mode/,
  },
  {
    name: 'a hundred thousand brackets inside each other',
    make: (place) => place.write('coxswain.config.json', '[{"a":'.repeat(100_000)),
    also: NAMED,
    loud: /nested|expected|not closed/,
  },
  {
    name: 'fifty thousand fields that do not exist',
    make: (place) =>
      config(place, Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`f${index}`, index]))),
    also: NAMED,
    loud: /f\d+/,
  },
  {
    name: 'a name of a field as long as a configuration can be',
    make: (place) => config(place, { ['a'.repeat(1_000_000)]: 1 }),
    also: NAMED,
    loud: /aaaa/,
  },
  {
    name: 'a field twice, the second time in other letters',
    make: (place) =>
      place.write('coxswain.config.json', '{"mode":"steer","mode":"shadow","Mode":"shadow","MODE":"shadow"}'),
    loud: NEEDS_TRUST,
  },
  {
    name: 'a configuration in UTF-16, and one with a mark of order inside',
    make: (place) => place.write('coxswain.config.json', Buffer.from('\ufeff{"mode":"shadow"}', 'utf16le')),
    also: NAMED,
    loud: /invalid symbol|JSON|text/,
  },
  {
    name: 'a schema that is to be fetched',
    make: (place) =>
      config(place, {
        $schema: 'http://127.0.0.1:1/schema.json',
        extends: 'http://127.0.0.1:1/x.json',
        $ref: '/etc/passwd',
      }),
    also: NAMED,
    loud: /extends/,
  },
  {
    name: 'values that are not numbers',
    make: (place) =>
      place.write(
        'coxswain.config.json',
        '{"holdout":1e999,"maxGuidancePerTurn":-0,"providerTimeLimitMs":1e308,"budget":{"maxCalls":0.1}}',
      ),
    also: NAMED,
    loud: /holdout/,
  },
];

function config(place: Sandbox, value: object): void {
  place.write('coxswain.config.json', JSON.stringify(value));
}

/** A module that leaves a file where this test looks. */
function codeOf(place: Sandbox): string {
  return `import { writeFileSync } from 'node:fs';\nwriteFileSync('${place.ran}/config', '');\nexport default {};\n`;
}
