/**
 * Scores the built-in detectors on labelled runs: `node scripts/score.ts PATH [--opaque] [--flagless] [--json] [--accept]`. PATH
 * is a `.jsonl` file with one run a line, a `.json` file with one run, or a folder of such files. Prints found, false,
 * premature and late cases, in all and without the debatable ones, per expected kind, and each wrong case with the reason.
 * `--accept` writes the verdict of each case into `PATH/verdicts.tsv`, which `test/detection.test.ts` compares.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCases, scoreCases, totalOf, type ScenarioScore } from '../test/support/score-scenarios.ts';
import { verdictLines } from '../test/support/verdict-lines.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    opaque: { type: 'boolean' },
    flagless: { type: 'boolean' },
    json: { type: 'boolean' },
    accept: { type: 'boolean' },
  },
});
const path = positionals[0];
if (path === undefined) {
  console.error('usage: score PATH [--opaque] [--flagless] [--json] [--accept]');
  process.exitCode = 2;
} else {
  const cases = readCases(path);
  if (values.accept === true) writeFileSync(join(path, 'verdicts.tsv'), `${verdictLines(cases).join('\n')}\n`);
  const scores = scoreCases(cases, { opaque: values.opaque === true, flagless: values.flagless === true });
  if (values.json === true) console.log(JSON.stringify(reportOf(scores), null, 2));
  else print(scores);
}

function clearCut(scores: readonly ScenarioScore[]): readonly ScenarioScore[] {
  return scores.filter((score) => !score.debatable);
}

function kindsOf(scores: readonly ScenarioScore[]): readonly string[] {
  return [...new Set(scores.map((score) => score.expectedKind ?? 'legitimate'))].sort();
}

function ofKind(scores: readonly ScenarioScore[], kind: string): readonly ScenarioScore[] {
  return scores.filter((score) => (score.expectedKind ?? 'legitimate') === kind);
}

function reportOf(scores: readonly ScenarioScore[]): object {
  const byKind = Object.fromEntries(kindsOf(scores).map((kind) => [kind, totalOf(ofKind(scores, kind))]));
  return { all: totalOf(scores), clearCut: totalOf(clearCut(scores)), byKind, scenarios: scores };
}

function print(scores: readonly ScenarioScore[]): void {
  for (const score of scores) if (score.verdict !== 'right') console.log(reasonOf(score));
  console.log('');
  for (const kind of kindsOf(scores)) printTotal(kind, ofKind(scores, kind));
  printTotal('all', scores);
  printTotal('clear-cut', clearCut(scores));
}

function reasonOf(score: ScenarioScore): string {
  const seen =
    score.firstFlag === null
      ? 'nothing flagged'
      : `${score.flaggedKinds.join(' + ')} flagged at call ${score.firstFlag}`;
  const wanted =
    score.stuckAt === null ? 'nothing expected' : `${score.expectedKind} expected at call ${score.stuckAt}`;
  return `${score.verdict.padEnd(10)} ${score.id}${score.debatable ? ' (debatable)' : ''}: ${seen}, ${wanted}`;
}

function printTotal(name: string, scores: readonly ScenarioScore[]): void {
  const total = totalOf(scores);
  const delay = total.meanDelay === null ? '-' : total.meanDelay.toFixed(2);
  console.log(
    `${name.padEnd(26)} found ${total.found}/${total.stuck}  false ${total.falseAlarms}/${total.legitimate}  ` +
      `premature ${total.premature}  mean delay ${delay}`,
  );
}
