/**
 * Makes a page of the site: the table of words that people read, and the output of common commands for the sample run. Times, sizes
 * and temporary paths are replaced by `…`.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { WORDS } from '../src/core/records/words.ts';

const ROOT = join(import.meta.dirname, '..');

const ABOUT: Readonly<Record<keyof typeof WORDS, string>> = {
  pattern: 'Names of patterns',
  level: 'Certainty of a pattern',
  reason: 'Why a run ended, or waits',
  cause: 'Why a run failed or was cut off, if no reason is known',
  outcome: 'How a run ended, if its source gives no reason',
  delivery: 'Delivery of advice',
  held: 'Why advice was held back',
  check: 'Checks of doctor (all others have the same name)',
};

const COMMANDS: readonly string[] = [
  'report stuck-run.jsonl',
  'analyze stuck-run.jsonl --store runs.db',
  'runs',
  'search rounding --limit 2',
  'show sample-stuck-run --call 24',
  'watch stuck-run.jsonl --until-end',
  'status',
];

/** The tables of identifiers and words. */
export function wordTables(): string {
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

/** The output of each command. Needs no build. */
function commandTexts(): ReadonlyMap<string, string> {
  const cwd = mkdtempSync(join(tmpdir(), 'coxswain-words-'));
  try {
    copyFileSync(join(ROOT, 'samples', 'stuck-run.jsonl'), join(cwd, 'stuck-run.jsonl'));
    return new Map(COMMANDS.map((command) => [command, printed(command.split(' '), cwd)]));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function printed(args: readonly string[], cwd: string): string {
  // Without agent programs and the user's settings.
  const env = { PATH: '/usr/bin:/bin', HOME: cwd, TZ: 'UTC', COXSWAIN_STORE: 'runs.db' };
  const bin = join(ROOT, 'src', 'cli', 'bin.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd, env, encoding: 'utf8' });
  return `${stdout}${stderr}`
    .replaceAll(process.execPath, '…/node')
    .replaceAll(cwd, '…')
    .replaceAll(ROOT, '…')
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::[\d.]+Z?)?/g, '…')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|kB|MB|GB)\b/g, '… $1')
    .trimEnd();
}

export function wordsPage(): string {
  const sections = [...commandTexts()].map(([command, text]) => `### coxswain ${command}\n\n\`\`\`\n${text}\n\`\`\`\n`);
  return `${HEAD}${wordTables()}\n## The output of the commands\n\n${sections.join('\n')}`;
}

const HEAD = `# Words in the output

Commands, reports and the viewer print these words. \`--json\` prints the identifiers in the first column. The source of the words is
\`src/core/records/words.ts\`.

Calls are numbered from 1. Times are local and show their zone. The title of a run is its task, followed by its id. Marks of runs: ✓ worked,
✗ failed or was cut off, ● waits or is stuck at its end, · none of these.

`;
