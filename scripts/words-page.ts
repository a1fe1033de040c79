/**
 * Writes docs/words.md: the table of words that people read, and what the ten most common commands print for the sample run.
 * Times, sizes and temporary paths stand there as `…`.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { WORDS } from '../src/records/words.ts';

const BIN = join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts');
const SAMPLE = join(import.meta.dirname, '..', 'samples', 'stuck-run.jsonl');

const ABOUT: Readonly<Record<keyof typeof WORDS, string>> = {
  pattern: 'Names of patterns',
  level: 'How sure a pattern is',
  reason: 'Why a run ended, or waits',
  outcome: 'How a run ended, where its source gives no reason',
  delivery: 'What became of advice',
  check: 'What doctor looks at; what is not here is called the same',
};

const COMMANDS: readonly (readonly string[])[] = [
  ['report', 'stuck-run.jsonl'],
  ['analyze', 'stuck-run.jsonl', '--store', 'runs.db'],
  ['runs', '--store', 'runs.db'],
  ['show', 'sample-stuck-run', '--store', 'runs.db'],
  ['search', 'rounding', '--store', 'runs.db', '--limit', '2'],
  ['explain', 'stuck-run.jsonl', '--call', '24'],
  ['watch', 'stuck-run.jsonl', '--until-end'],
  ['status'],
  ['init', 'claude-code', '--dry-run'],
  ['doctor'],
];
/** Of one command; what comes after it says the same of further patterns and calls. */
const MAX_LINES = 40;

function tables(): string {
  // The keys of WORDS are those of ABOUT.
  return (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .map((table) => {
      const rows = Object.entries(WORDS[table]).map(([id, words]) => `| \`${id}\` | ${words} |`);
      return [`### ${ABOUT[table]}`, '', `| in \`--json\` (${table}) | in words |`, '|---|---|', ...rows, ''].join(
        '\n',
      );
    })
    .join('\n');
}

function printed(args: readonly string[], cwd: string): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, TZ: 'UTC' };
  const { stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { cwd, env, encoding: 'utf8' });
  const text = `${stdout}${stderr}`
    .replaceAll(cwd, '…')
    .replaceAll(join(import.meta.dirname, '..'), '…')
    .replaceAll(process.execPath, '…/node')
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::[\d.]+Z)?/g, '…')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|kB|MB|GB)\b/g, '… $1');
  const lines = text.trimEnd().split('\n');
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), '…'] : lines;
  return [`### coxswain ${args.join(' ')}`, '', '```', ...shown, '```', ''].join('\n');
}

const cwd = mkdtempSync(join(tmpdir(), 'coxswain-words-'));
copyFileSync(SAMPLE, join(cwd, 'stuck-run.jsonl'));
const pages = COMMANDS.map((args) => printed(args, cwd));
rmSync(cwd, { recursive: true, force: true });
const head = `# The words people read

Commands, reports and the viewer say these words in place of identifiers, which only \`--json\` prints. \`src/records/words.ts\` is the
table; this page is written by \`npx node scripts/words-page.ts\`, and a test compares its tables.

Calls are numbered from 1. Times are local and show their zone. A run is known by its task, its id stands behind. ✓ means that the run
worked, ✗ that it failed or died, ● that it was stuck at its end, · none of these.

`;
writeFileSync(
  join(import.meta.dirname, '..', 'docs', 'words.md'),
  `${head}${tables()}\n## What the commands print\n\n${pages.join('\n')}`,
);
