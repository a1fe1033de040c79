import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { wholeOption } from '../../terminal/option-values.ts';
import { present } from '../../../core/base/json.ts';
import { invalidArgument, assertNever, CoxswainError } from '../../../core/base/error.ts';
import { backtest } from '../../../lab/backtest.ts';
import { readLabels } from '../../../lab/labels.ts';
import { parseSplit } from '../../../lab/judge-gates.ts';
import { parseSweep } from '../../../lab/sweep-report.ts';
import type { BacktestProgress } from '../../../lab/backtest-options.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { countOf, countText, rangeText } from '../../../core/base/number-text.ts';
import { barText, linesOf, sectionOf, styled, type Block, type Document } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { backtestDocument } from './backtest-document.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import { sourcesNamed, openReadableStore } from '../../runs/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { verifyRuns, type RunVerification } from '../../../lab/verify-runs.ts';
import { makeConfiguration } from '../../../lab/configuration.ts';
import type { LessonRun } from '../../../core/facts/lesson-book.ts';
import { findSources } from '../../../formats/find-sources.ts';
import { judgeLessons, type LessonFigures, type LessonsReport } from '../../../lab/judge-lessons.ts';
import { storeKindAt } from '../../../stores/registry/open-store.ts';
import { runsOfSources, runsOfStore } from '../../runs/runs-from.ts';

export interface BacktestCommandOptions {
  readonly config?: string;
  readonly compare?: readonly string[];
  readonly sweep?: string;
  readonly labels?: string;
  readonly split?: string;
  readonly maxFalseRate?: string;
  readonly minRecall?: string;
  readonly maxAdvicePer100Calls?: string;
  readonly workers?: string;
  readonly resume?: string;
  readonly queue?: string;
  readonly stopEarly?: boolean;
  readonly verify?: boolean;
  readonly lessons?: boolean;
  readonly json?: boolean;
}

const SHOWN_IDS = 5;
const REDRAW_EVERY_MS = 100;

/** Runs `coxswain backtest`. Returns the exit code: 0, or 1 on a read error, a failed gate or a failed verification. */
export async function backtestCommand(
  givenPaths: readonly string[],
  options: BacktestCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const { paths: namedPaths, ...configurations } = compareConfigs(givenPaths, options);
  const paths = await sourcesNamed(namedPaths, terminal);
  if (options.verify === true) return backtestVerify(paths, options, terminal);
  if (options.lessons === true) {
    const lessonProblems = new Problems(terminal);
    await backtestLessons(paths, { problems: lessonProblems, json: options.json === true, terminal });
    return lessonProblems.any ? 1 : 0;
  }
  const { report, problems, unknownLabels } = await backtest(paths, {
    ...configurations,
    sweep: options.sweep === undefined ? undefined : parseSweep(options.sweep),
    labels: options.labels === undefined ? undefined : await readLabels(options.labels),
    split: options.split === undefined ? undefined : parseSplit(options.split),
    gates: {
      ...amountOption('maxFalseRate', '--max-false-rate', options.maxFalseRate, 1),
      ...amountOption('minRecall', '--min-recall', options.minRecall, 1),
      ...amountOption('maxAdvicePer100Calls', '--max-advice-per-100-calls', options.maxAdvicePer100Calls, 1e6),
    },
    workers: wholeOption('--workers', options.workers, [1, 256]) ?? Math.min(256, availableParallelism()),
    resume: options.resume,
    queue: options.queue,
    stopEarly: options.stopEarly,
    onProgress: progressOn(terminal),
  }).finally(() => terminal.status(''));
  new Problems(terminal).faults(problems);
  const unknownCount = unknownLabels.length;
  if (unknownCount > 0) {
    const names = unknownLabels.slice(0, SHOWN_IDS).map((id) => printableCut(id, 80));
    const ellipsis = unknownCount > SHOWN_IDS ? ', …' : '';
    terminal.complain(
      `coxswain: ${printable(options.labels ?? '')}: ${countOf(unknownCount, 'label matches', 'labels match')} no run and no call of one: ${names.join(', ')}${ellipsis}`,
    );
  }
  const text = options.json === true ? jsonLine(report) : terminalText(backtestDocument(report), terminal);
  await terminal.write(text);
  const failedGates = report.gates.filter(({ passed }) => !passed);
  for (const { reason } of failedGates) terminal.complain(`coxswain: ${reason}`);
  return problems.length > 0 || unknownCount > 0 || failedGates.length > 0 ? 1 : 0;
}

/** Splits the arguments of `--compare`, which takes every argument up to the next option: two configurations, then paths. */
function compareConfigs(
  givenPaths: readonly string[],
  { config, compare }: BacktestCommandOptions,
): { readonly paths: readonly string[]; readonly config?: string; readonly against?: string } {
  const [first, second, ...rest] = compare ?? [];
  const paths = [...givenPaths, ...rest];
  if (compare === undefined) return { paths, ...present({ config }) };
  if (first === undefined || second === undefined || config !== undefined) {
    const hint = 'name two configurations after it, each a file or standard, without --config';
    throw invalidArgument(`--compare ${compare.join(' ')}: ${hint}`);
  }
  return { paths, config: first, against: second };
}

function amountOption(
  name: 'maxFalseRate' | 'minRecall' | 'maxAdvicePer100Calls',
  flag: string,
  text: string | undefined,
  max: number,
): Readonly<Partial<Record<typeof name, number>>> {
  if (text === undefined) return {};
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= max) return { [name]: value };
  throw invalidArgument(`${flag} ${text}: give a number from 0 to ${max}`);
}

function progressOn(terminal: Terminal): (progress: BacktestProgress) => void {
  let drawnAtMs = 0;
  return ({ of, runs, shards }) => {
    const nowMs = systemClock.nowMs();
    if (nowMs - drawnAtMs < REDRAW_EVERY_MS) return;
    drawnAtMs = nowMs;
    const text = `${barText(of === 0 ? 1 : shards / of)}  ${shards} of ${of} parts  ${countOf(runs, 'run')}`;
    terminal.status(text.slice(0, Math.max(0, terminal.columns - 1)));
  };
}

const SHOWN_MISMATCHES = 5;
const DETAIL_CHARS = 300;
const CHARS_BEFORE = 60;

type Status = RunVerification['status'];

/** @returns 0 if at least one run was compared and all compared runs were equal; else 1 */
export async function backtestVerify(
  paths: readonly string[],
  options: { readonly config?: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const spec = options.config === undefined || options.config === 'standard' ? {} : { file: options.config };
  const { name, options: steering, steering: resolved, redaction } = await makeConfiguration(spec);
  const counts = new Map<Status, number>();
  let matchedCount = 0;
  let mismatchedCount = 0;
  for await (const run of verifyRuns(paths, { steering, ...present({ redaction }) })) {
    counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
    matchedCount += run.matched;
    mismatchedCount += run.mismatched;
    await terminal.write(options.json === true ? jsonLine(run) : runText(run, resolved.configurationHash));
  }
  const countWith = (status: Status): number => counts.get(status) ?? 0;
  const comparedRuns = countWith('equal') + countWith('different');
  const totals = {
    configuration: { name, hash: resolved.configurationHash },
    matched: matchedCount,
    mismatched: mismatchedCount,
    equal: countWith('equal'),
    different: countWith('different'),
    gap: countWith('gap'),
    notSteered: countWith('not-steered'),
    otherConfiguration: countWith('other-configuration'),
    unreadable: countWith('unreadable'),
  };
  await terminal.write(
    options.json === true
      ? jsonLine(totals)
      : `${countText(matchedCount)} derived records matched, ${countText(mismatchedCount)} mismatched, in ${countOf(comparedRuns, 'run')}; ` +
          `exempt: ${countWith('gap')} with a gap, ${countWith('not-steered')} not steered, ${countWith('other-configuration')} of another configuration\n`,
  );
  if (comparedRuns === 0) {
    const hint = countWith('other-configuration') > 0 ? '; pass theirs with --config FILE' : '';
    throw new CoxswainError(
      'input-io',
      `no run could be verified under ${name} (${resolved.configurationHash})${hint}`,
    );
  }
  return mismatchedCount > 0 || countWith('unreadable') > 0 ? 1 : 0;
}

function runText({ run, status, matched, mismatched, mismatches, detail }: RunVerification, hash: string): string {
  const head = printable(run);
  switch (status) {
    case 'equal':
      return `${head}: ${countText(matched)} matched\n`;
    case 'gap':
      return `${head}: exempt: it has a gap\n`;
    case 'not-steered':
      return `${head}: exempt: not steered by coxswain\n`;
    case 'other-configuration':
      return `${head}: recorded under the configuration ${printableCut(detail ?? '', 32)}, not ${hash}\n`;
    case 'unreadable':
      return `${head}: cannot be read: ${printableCut(detail ?? '', DETAIL_CHARS)}\n`;
    case 'different': {
      const lines = mismatches.slice(0, SHOWN_MISMATCHES).map(({ causeSeq, ordinal, recorded, replayed }) => {
        const difference =
          replayed === undefined
            ? `recorded ${recorded?.kind ?? ''}, replayed nothing`
            : recorded === undefined
              ? `recorded nothing, replayed ${replayed.kind}`
              : bothText(JSON.stringify(recorded), JSON.stringify(replayed));
        return `  after record ${causeSeq}, number ${ordinal}: ${difference}\n`;
      });
      const hiddenCount = mismatched - lines.length;
      const hiddenNote = hiddenCount > 0 ? `  and ${countText(hiddenCount)} more\n` : '';
      return `${head}: ${countText(matched)} matched, ${countText(mismatched)} mismatched\n${lines.join('')}${hiddenNote}`;
    }
    default:
      return assertNever(status);
  }
}

function bothText(recorded: string, replayed: string): string {
  let at = 0;
  while (at < recorded.length && recorded[at] === replayed[at]) at += 1;
  const excerptStart = Math.max(0, at - CHARS_BEFORE);
  const excerpt = (text: string): string =>
    (excerptStart === 0 ? '' : '…') + printableCut(text.slice(excerptStart), DETAIL_CHARS);
  return `recorded ${excerpt(recorded)}\n      replayed ${excerpt(replayed)}`;
}

const SHOWN_WRONG = 20;
const NAME_CHARS = 40;

/** Of several paths, each is one project; the runs of one path belong to the projects that they name. */
async function backtestLessons(
  paths: readonly string[],
  { problems, json, terminal }: { readonly problems: Problems; readonly json: boolean; readonly terminal: Terminal },
): Promise<void> {
  const runs: LessonRun[] = [];
  for (const path of paths) {
    const own = paths.length > 1 ? basename(path) : undefined;
    for await (const run of runsOfPath(path, problems)) runs.push({ ...run, project: own ?? run.project });
  }
  const report = judgeLessons(runs);
  await terminal.write(json ? jsonLine(report) : terminalText(lessonsDocument(report), terminal));
}

async function* runsOfPath(path: string, problems: Problems): AsyncGenerator<LessonRun> {
  if ((await storeKindAt(path)) === undefined) {
    const query = { problems, onlyLessons: true, reportsDamage: true, usesThreads: true, withProject: true };
    for await (const found of runsOfSources(findSources([path]), query))
      yield lessonRunOf(found, found.project ?? path);
    return;
  }
  const store = await openReadableStore(path);
  try {
    for await (const found of runsOfStore(store, { sinceMs: 0, placeOf: () => path, onlyLessons: true }))
      yield lessonRunOf(found, found.project ?? path);
  } finally {
    await store.close();
  }
}

/** Keeps only what lessons need, because all runs are in memory. */
function lessonRunOf(
  { failures, id, instructions, keys, parentId, source, startedAtMs }: Omit<LessonRun, 'project'>,
  project: string,
): LessonRun {
  const run = { id, project, source, startedAtMs, failures, keys, instructions };
  return parentId === undefined ? run : { ...run, parentId };
}

function lessonsDocument({ all, projects, withoutAny, withoutTwo, wrong }: LessonsReport): Document {
  const rows = projects.map(({ checks, failures, met, project, right, sessions, warnings }) => [
    printableCut(basename(project), NAME_CHARS),
    ...[sessions, failures, checks, warnings, right, met].map(countText),
  ]);
  const note =
    'A warning is the first call of a session that the sessions before it expect to fail. Met: failed calls of such a key. Tests, linters and compilers are apart.';
  return {
    title: 'Lessons, each session judged by the sessions before it',
    blocks: [
      { type: 'table', head: ['project', 'sessions', 'failed', 'tests', 'warnings', 'right', 'met'], rows },
      figureBlock('all projects', all),
      figureBlock('without the two with most', withoutTwo),
      linesOf([`projects without a warning: ${rangeText(withoutAny)}`]),
      ...sectionOf(
        'Wrong warnings',
        linesOf(
          wrong
            .slice(0, SHOWN_WRONG)
            .map(
              ({ keys, number, project, runId }) =>
                `${printableCut(basename(project), NAME_CHARS)}, call ${countText(number)} of ${printable(runId)}: ${printableCut(keys.join('; '), 120)}`,
            ),
        ),
      ),
      linesOf([styled('dim', note)]),
    ],
  };
}

function figureBlock(name: string, { coverage, coverageOfAll, precision, sameCause }: LessonFigures): Block {
  return linesOf([
    styled('strong', name),
    `warnings that were right: ${rangeText(precision)} of ${countText(precision.of)}; for the same cause: ${rangeText(sameCause)}`,
    `failed calls met: ${rangeText(coverage)} of ${countText(coverage.of)}; of all with tests: ${rangeText(coverageOfAll)}`,
  ]);
}
