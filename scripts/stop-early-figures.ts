/**
 * Computes the savings and losses of stopping runs early for every corpus in `../shared/trajectories`, separately for models of
 * 2023–24 and of today. `npx node scripts/stop-early-figures.ts` prints the tables; `--write` replaces those in docs/backtest.md. Takes about
 * a minute.
 */
import { readFileSync, writeFileSync } from 'node:fs';

import type { PartFigures, StopFigures } from '../src/lab/backtest-report.ts';
import { backtest } from '../src/lab/backtest.ts';
import { sharedPath } from '../test/support/shared-data.ts';

/** Corpora by the models that produced them. */
const CORPORA: readonly (readonly [string, readonly (readonly [string, ...string[]])[]])[] = [
  [
    'Models of 2023 and 2024',
    [
      ['InterCode SQL', 'intercode_sql.jsonl.gz'],
      ['InterCode Bash', 'intercode_bash.jsonl.gz'],
      ['InterCode CTF', 'intercode_ctf.jsonl.gz'],
      ['InterCode Python', 'intercode_python.jsonl.gz'],
      ['SWE-agent demonstrations', 'sweagent_demos.jsonl.gz'],
      ['OpenHands examples', 'openhands_examples.jsonl.gz'],
    ],
  ],
  [
    'Models of 2025 and 2026',
    [
      ['SWE-bench, Gemini 3 Pro', 'mini_swe_gemini3.jsonl.gz'],
      ['Claude Code, a user beside it', 'claude-code-sessions'],
      ['Codex', 'raw', 'codex'],
      ['Copilot CLI', 'raw', 'copilot-cli'],
    ],
  ],
];
const DOCUMENT = 'docs/backtest.md';
const [START, END] = ['[//]: # (stop-early figures)', '[//]: # (end of stop-early figures)'];

const percent = (share: number | null): string => (share === null ? '–' : (100 * share).toFixed(1));

/** Calls saved with their interval, and successes lost, at one place of the curve. */
function cell({ calls, lostSuccesses }: StopFigures): string {
  const saved = `${percent(calls.share)} (${percent(calls.low)}–${percent(calls.high)})`;
  const lost = lostSuccesses.of === 0 ? '' : `; ${lostSuccesses.hits} lost`;
  return `${saved}${lost}`;
}

function row(
  name: string,
  { figures, runs, succeeded }: { figures: PartFigures; runs: number; succeeded: number },
): string {
  const [first] = figures.stopEarly?.policies ?? [];
  const successes = succeeded === 0 ? 'not known' : String(succeeded);
  const points = first === undefined ? ['no warning'] : first.byAfter.map(cell);
  return `| ${[name, runs, successes, first?.warnedRuns ?? 0, ...points].join(' | ')} |`;
}

const after = [0, 1, 2, 3, 5, 10];
const head = [
  'recorded runs',
  'runs',
  'succeeded',
  'warned',
  ...after.map((calls) => (calls === 0 ? 'at once' : `${calls} later`)),
];
const lines: string[] = [];
for (const [era, corpora] of CORPORA) {
  lines.push('', `${era}:`, '', `| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`);
  for (const [name, ...path] of corpora) {
    const found = sharedPath('trajectories', ...path);
    if (found === undefined) continue;
    const { report } = await backtest([found], { stopEarly: true });
    const [part] = report.parts;
    const figures = part?.byConfiguration[0];
    if (part !== undefined && figures !== undefined) {
      lines.push(row(name, { figures, runs: part.runs, succeeded: part.negative }));
    }
  }
}
const text = `${lines.join('\n').trim()}\n`;
if (process.argv.includes('--write')) {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [from, to] = [document.indexOf(START), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${DOCUMENT} has no place for the figures`);
  writeFileSync(DOCUMENT, `${document.slice(0, from)}${START}\n\n${text}\n${document.slice(to)}`);
} else console.log(text);
