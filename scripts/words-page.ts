/**
 * Writes docs/words.md: the table of words that people read, and every line that the ten most common commands print for the sample
 * run, beside what they printed at first. Times, sizes and temporary paths stand there as `…`.
 *
 * `npx node scripts/words-page.ts`; `--before CHECKOUT` writes what the commands of an early checkout print into `words-before.txt`.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { WORDS } from '../src/records/words.ts';

const ROOT = join(import.meta.dirname, '..');
const BEFORE = join(import.meta.dirname, 'words-before.txt');

const ABOUT: Readonly<Record<keyof typeof WORDS, string>> = {
  pattern: 'Names of patterns',
  level: 'How sure a pattern is',
  reason: 'Why a run ended, or waits',
  outcome: 'How a run ended, where its source gives no reason',
  delivery: 'What became of advice',
  check: 'What doctor looks at; what is not here is called the same',
};

const COMMANDS: readonly string[] = [
  'report stuck-run.jsonl',
  'analyze stuck-run.jsonl --store .coxswain/runs.db',
  'runs',
  'show sample-stuck-run',
  'search rounding --limit 2',
  'explain stuck-run.jsonl --call 24',
  'watch stuck-run.jsonl --until-end',
  'status',
  'init claude-code --yes',
  'doctor',
];

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

/** What each of the commands prints, by command. @param root  the checkout whose commands they are */
export function commandTexts(root: string = ROOT): ReadonlyMap<string, string> {
  const cwd = mkdtempSync(join(tmpdir(), 'coxswain-words-'));
  try {
    copyFileSync(join(ROOT, 'samples', 'stuck-run.jsonl'), join(cwd, 'stuck-run.jsonl'));
    mkdirSync(join(cwd, '.git'));
    return new Map(COMMANDS.map((command) => [command, printed(command.split(' '), { cwd, root })]));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function printed(args: readonly string[], { cwd, root }: { readonly cwd: string; readonly root: string }): string {
  // No agent program and no settings of whoever runs it.
  const env = { PATH: '/usr/bin:/bin', HOME: cwd, TZ: 'UTC' };
  const bin = join(root, 'src', 'cli', 'bin.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd, env, encoding: 'utf8' });
  return `${stdout}${stderr}`
    .replaceAll(process.execPath, '…/node')
    .replaceAll(cwd, '…')
    .replaceAll(root, '…')
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::[\d.]+Z?)?/g, '…')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|kB|MB|GB)\b/g, '… $1')
    .trimEnd();
}

/** The page as it should be. */
export function wordsPage(texts: ReadonlyMap<string, string> = commandTexts()): string {
  const before = readFileSync(BEFORE, 'utf8');
  const sections = [...texts].map(([command, text]) => {
    const then = new RegExp(`^### ${command.replaceAll('.', '[.]')}\\n\\n(\`\`\`\\n[^]*?\\n\`\`\`)$`, 'm').exec(
      before,
    )?.[1];
    const head = `### coxswain ${command}\n\n`;
    return `${head}Before:\n\n${then ?? 'There was no such command.'}\n\nNow:\n\n\`\`\`\n${text}\n\`\`\`\n`;
  });
  return `${HEAD}${tables()}\n## What the commands print\n\n${sections.join('\n')}`;
}

const HEAD = `# The words people read

Commands, reports and the viewer say these words in place of identifiers, which only \`--json\` prints. \`src/records/words.ts\` is the
table; this page is written by \`npx node scripts/words-page.ts\`, and tests compare it with the table and with what the commands print.

Calls are numbered from 1. Times are local and show their zone. A run is known by its task, its id stands behind. ✓ means that the run
worked, ✗ that it failed or died, ● that it was stuck at its end, · none of these.

`;

function main([option, checkout]: readonly string[]): void {
  if (option === '--before' && checkout !== undefined) {
    const sections = [...commandTexts(checkout)]
      .filter(([, text]) => !text.includes('unknown command'))
      .map(([command, text]) => `### ${command}\n\n\`\`\`\n${text}\n\`\`\`\n`);
    writeFileSync(BEFORE, sections.join('\n'));
  } else writeFileSync(join(ROOT, 'docs', 'words.md'), wordsPage());
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
