/**
 * Scores the built-in detectors on labelled runs: `node scripts/score.ts PATH [--opaque] [--flagless] [--json] [--accept]`. PATH
 * is a `.jsonl` file with one run a line, a `.json` file with one run, or a folder of such files. Prints found, false,
 * premature and late cases, in all and without the debatable ones, per expected kind, and each wrong case with the reason.
 * `--accept` writes the verdict of each case into `PATH/verdicts.tsv`, which `test/detection.test.ts` compares.
 *
 * `node scripts/score.ts --truth [--moments] [--kinds]` scores them on the recorded runs in `../shared/trajectories` and the moments of
 * `test/truth` that belong to the build part, per corpus; `--moments` lists the wrong ones, `--kinds` prints
 * what each kind of pattern raises, and what is found or flagged by it alone. `--truth --judge COMMIT` scores the
 * judge part instead and logs the sums under that commit in `test/truth/scores.tsv`, five times at most.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readCases, scoreCases, totalOf, type ScenarioScore } from '../test/support/score-scenarios.ts';
import {
  CORPORA,
  delayOf,
  foldCorpus,
  isFlaggedAt,
  readMoments,
  scoreTruth,
  TRUTH_COLUMNS,
  truthCells,
  type Corpus,
  type FoldedRun,
  type Moment,
} from '../test/support/score-truth.ts';
import { sharedPath } from '../test/support/shared-data.ts';
import { verdictLines } from '../test/support/verdict-lines.ts';

/** How often the judge part may be scored. */
const MAX_JUDGED = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    opaque: { type: 'boolean' },
    flagless: { type: 'boolean' },
    json: { type: 'boolean' },
    accept: { type: 'boolean' },
    truth: { type: 'boolean' },
    moments: { type: 'boolean' },
    kinds: { type: 'boolean' },
    judge: { type: 'string' },
  },
});
const path = positionals[0];
if (values.truth === true) {
  await scoreRecorded(values.judge, { listsMoments: values.moments === true, listsKinds: values.kinds === true });
} else if (path === undefined) {
  console.error('usage: score PATH [--opaque] [--flagless] [--json] [--accept]');
  console.error('       score --truth [--moments] [--kinds] [--judge COMMIT]');
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

async function scoreRecorded(
  judgedCommit: string | undefined,
  { listsMoments, listsKinds }: { readonly listsMoments: boolean; readonly listsKinds: boolean },
): Promise<void> {
  const folder = sharedPath('trajectories');
  if (folder === undefined) throw new Error('the recorded runs are not there: ../shared/trajectories is missing');
  const log = fileURLToPath(new URL('../test/truth/scores.tsv', import.meta.url));
  const scored = readFileSync(log, 'utf8').trimEnd().split('\n').slice(1);
  if (judgedCommit !== undefined && new Set(scored.map((line) => line.split('\t', 1)[0])).size >= MAX_JUDGED) {
    throw new Error(`the judge part was scored ${MAX_JUDGED} times (${log}); it may not be scored again`);
  }
  const part = judgedCommit === undefined ? 'build' : 'judge';
  const moments = readMoments(fileURLToPath(new URL('../test/truth/moments.jsonl', import.meta.url)), part);
  const folded: { readonly corpus: Corpus; readonly runs: readonly FoldedRun[] }[] = [];
  for (const corpus of CORPORA) {
    const runs = await Array.fromAsync(foldCorpus(corpus, folder, { part }));
    folded.push({ corpus, runs });
  }
  const rows = folded.map(({ corpus, runs }) => rowOf(`${corpus.harness} ${corpus.years}`, runs, moments));
  const sumOf = (name: string, belongs: (corpus: Corpus) => boolean): readonly string[] => {
    const runs = folded.flatMap((each) => (belongs(each.corpus) ? each.runs : []));
    return rowOf(name, runs, moments);
  };
  const sums = [
    sumOf('older models', ({ modern }) => !modern),
    sumOf('today', ({ modern, isSplit }) => modern && isSplit !== true),
    sumOf('today, General-AgentBench', ({ isSplit }) => isSplit === true),
  ];
  console.log(`moments of the ${part} part`);
  for (const row of [['harness', ...TRUTH_COLUMNS], ...rows, ...sums]) console.log(`| ${row.join(' | ')} |`);
  if (listsKinds)
    printKinds(
      folded.flatMap(({ runs }) => runs),
      moments,
    );
  if (judgedCommit !== undefined) {
    appendFileSync(log, sums.map((row) => `${[judgedCommit, ...row].join('\t')}\n`).join(''));
  } else if (listsMoments) {
    listWrong(
      folded.flatMap(({ runs }) => runs),
      moments,
    );
  }
}

/** Prints the figures lost without the flags of one kind; other detectors may see a pattern first then, which is not counted. */
function printKinds(runs: readonly FoldedRun[], moments: readonly Moment[]): void {
  const all = scoreTruth(runs, moments);
  console.log('| kind | alarms | stretches found by it alone | successful runs flagged by it alone |');
  for (const kind of [...new Set(runs.flatMap((run) => run.flags.map((flag) => flag.kind)))].sort()) {
    const without = runs.map((run) =>
      Object.assign({}, run, { flags: run.flags.filter((flag) => flag.kind !== kind) }),
    );
    const { alarms, found, succeededFlagged } = scoreTruth(without, moments);
    const lost = [all.alarms - alarms, all.found - found, all.succeededFlagged - succeededFlagged];
    console.log(`| ${[kind, ...lost].join(' | ')} |`);
  }
}

function rowOf(name: string, runs: readonly FoldedRun[], moments: readonly Moment[]): readonly string[] {
  return [name, ...truthCells(scoreTruth(runs, moments))];
}

function listWrong(runs: readonly FoldedRun[], moments: readonly Moment[]): void {
  for (const moment of moments) {
    const run = runs.find((each) => each.corpus === moment.corpus && each.run === moment.run);
    if (run === undefined) continue;
    const where = `${moment.corpus} ${moment.run} at ${moment.call}${moment.since === undefined ? '' : ` since ${moment.since} (${moment.kind})`}`;
    const kinds = run.flags
      .map((flag) => `${flag.kind}@${(flag.flaggedAt ?? 0) + 1}-${flag.clearedAt ?? ''}`)
      .join(' ');
    if (moment.label === 'stuck' && delayOf(run, moment) === null) console.log(`missed  ${where}: ${kinds}`);
    if (moment.label !== 'stuck' && isFlaggedAt(run, moment.call))
      console.log(`${moment.label} flagged ${where}: ${kinds}`);
  }
}
