import { posix, win32 } from 'node:path';
import {
  callNumber,
  countOf,
  countText,
  roundedDurationText,
  rangeText,
  usdText,
} from '../../core/base/number-text.ts';
import { shareOf } from '../../lab/statistics.ts';
import type { PatternLevel, TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import { inWords } from '../../core/records/words.ts';
import { hasFailed, type RunOutcome } from '../../core/facts/run-verdict.ts';
import { TEMPORARY } from '../../core/facts/run-work.ts';
import { taskTitle } from '../../core/facts/task-title.ts';
import type { RunUsage } from '../../core/facts/usage-fold.ts';
import { isStuckNow, seriousness, timesSeen } from '../../core/facts/seen-pattern.ts';
import { costText, isLeast, sumOfCosts, tokenFacts } from '../../core/facts/usage-text.ts';
import {
  heading,
  linesOf,
  listBlock,
  styled,
  type Block,
  type ListItem,
  type Text,
  type TextStyle,
} from '../document/document.ts';
import { printableCut } from '../../core/base/printable.ts';
import { shownEvidence, type PatternFacts, type RunFacts, type StripText } from '../../core/facts/run-facts.ts';
import type { RunTally, RunTotals } from './run-totals.ts';

const ID_CHARS = 80;
const TASK_CHARS = 76;
const MAX_PATTERNS = 8;
const CALL_CHARS = 100;
const EVIDENCE_CHARS = 300;
const NAME_CHARS = 60;
const LEVEL_STYLE: Readonly<Record<PatternLevel, TextStyle>> = { hint: 'note', warn: 'warn', strong: 'bad' };

export function runBlocks(run: RunFacts, hasEvidence = true): readonly Block[] {
  if (run.patterns.length > 0) return [listBlock([titleItem(run)]), ...patternBlocks(run, hasEvidence)];
  const { id, title } = namesOf(run);
  const facts = `  ${factsOf(run).join(', ')}: no pattern${id}`;
  return [listBlock([{ mark: runMark(run), head: [title, styled('dim', facts)] }])];
}

export function titleItem(run: RunFacts, more: readonly Text[] = []): ListItem {
  const { id, title } = namesOf(run);
  const origin = [run.format, run.source].filter((part) => part !== '').join(', ');
  return {
    mark: runMark(run),
    head: styled('strong', title),
    lines: [factsOf(run).join(', '), styled('dim', origin + id), ...more],
  };
}

export function namesOf({ id, name, task }: RunFacts): { readonly title: string; readonly id: string } {
  const shownId = printableCut(id, ID_CHARS);
  const title = name ?? (task === undefined ? undefined : (taskTitle(task) ?? task));
  return title === undefined
    ? { title: `run ${shownId}`, id: '' }
    : { title: printableCut(title, TASK_CHARS), id: `, run ${shownId}` };
}

const GOOD = ['good', '✓'] as const;
const BAD = ['bad', '✗'] as const;
const WARN = ['warn', '●'] as const;
const PLAIN = ['dim', '·'] as const;
const MARKS = {
  worked: GOOD,
  failed: BAD,
  cut_off: BAD,
  waiting: WARN,
  stuck: WARN,
  answered: PLAIN,
  stopped: PLAIN,
  open: PLAIN,
  unknown: PLAIN,
} as const;

/** Returns ✓ for a run that worked, ✗ for a run that failed or was cut off, ● for a run that waits or is stuck, else ·. */
export function runMark({ patterns, verdict: { verdict } }: RunFacts): NonNullable<ListItem['mark']> {
  const name = MARKS[verdict] === PLAIN && patterns.some(isStuckNow) ? 'stuck' : verdict;
  const [style, text] = MARKS[name];
  return { name, style, text };
}

function factsOf(run: RunFacts): readonly string[] {
  const { turns, patternBasis, steered } = run;
  return [
    ...countFacts(run),
    ...(turns === 0 ? [] : [countOf(turns, 'turn')]),
    ...activeFacts(run),
    ...usageFacts(run),
    ...endFacts(run),
    ...(steered ? [patternBasis === 'recorded' ? 'patterns as recorded' : 'patterns recomputed'] : []),
  ];
}

/** The words of the report, and what a benchmark adds to them. */
function endFacts({ ending, verdict: { evidence, verdict } }: RunFacts): readonly string[] {
  if (ending === undefined && verdict === 'unknown') return [];
  const facts = ending?.success === undefined || ending.outcome === 'ended' ? [] : [inWords('outcome', ending.outcome)];
  const more = [...facts, ...rewardFacts(ending?.reward)];
  return [`${printableCut(evidence, EVIDENCE_CHARS)}${more.length === 0 ? '' : ` (${more.join(', ')})`}`];
}

function rewardFacts(reward: number | undefined): readonly string[] {
  return reward === undefined ? [] : [`reward ${Math.round(reward * 1000) / 1000}`];
}

export function countFacts({
  calls,
  cancelled = 0,
  declined = 0,
  errors,
  format,
  lostRecords = 0,
  refused = 0,
}: Pick<RunFacts, 'calls' | 'cancelled' | 'declined' | 'errors' | 'lostRecords' | 'refused'> &
  Partial<Pick<RunFacts, 'format'>>): readonly string[] {
  return [
    // Gemini CLI of 2025 may leave its calls out of the file.
    ...(calls === 0 && format === 'gemini'
      ? ['no call on record']
      : [countOf(calls, 'call'), countOf(errors, 'error')]),
    ...(refused === declined ? [] : [`${countText(refused - declined)} refused`]),
    ...(declined === 0 ? [] : [`${countOf(declined, 'plan or question', 'plans or questions')} declined`]),
    ...(cancelled === 0 ? [] : [`${countText(cancelled)} cancelled`]),
    ...(lostRecords === 0 ? [] : [`${countOf(lostRecords, 'record')} lost`]),
  ];
}

export function activeFacts({ activeMs }: Pick<RunFacts, 'activeMs'>): readonly string[] {
  return activeMs > 0 ? [`${roundedDurationText(activeMs)} active`] : [];
}

export function usageFacts(usage: RunUsage): readonly string[] {
  const { costUsd } = usage;
  return [...tokenFacts(usage), ...(costUsd === undefined ? [] : [costText(costUsd, isLeast(usage))])];
}

const MAX_FAMILY = 1_000;

/** The runs that a run started, and those that they started. */
export function familyOf<Run extends Pick<RunFacts, 'id'>>(
  run: Pick<RunFacts, 'id'>,
  below: ReadonlyMap<string | undefined, readonly Run[]>,
): readonly Run[] {
  const family = [...(below.get(run.id) ?? [])];
  for (const one of family) if (family.length < MAX_FAMILY) family.push(...(below.get(one.id) ?? []));
  return family;
}

/** What Claude Code asks of a model beside the session, in a file of its own: a summary, a suggestion, a side question. */
const SIDE_FILE = /\/agent-a[a-z_]+-[\da-f]+$/;
/** The same in the files of subagents: it fills the cache of a model, and Codex has a model approve a command. */
const SIDE_TASK = /^(?:Warmup$|The following is the Codex agent history whose request action)/;

/** True for a run that its program made for itself, which is no subagent. */
export function isSideRun({
  calls,
  id,
  lastMessage = '',
  parentId,
  task = '',
}: Pick<RunFacts, 'calls' | 'id' | 'lastMessage' | 'parentId' | 'task'>): boolean {
  // Of some requests to fill a cache the file has only the answer.
  const isWarmUp = task === '' && calls === 0 && /\bwarm[- ]?up\b/i.test(lastMessage);
  return parentId !== undefined && (isWarmUp || SIDE_FILE.test(id) || SIDE_TASK.test(task));
}

/** Says that a session started more subagents than it has here: some may have no file. */
export function onRecord({ delegated = 0 }: RunFacts, below: readonly RunFacts[]): string {
  return below.length < delegated ? ' on record' : '';
}

export function belowFacts(run: RunFacts, family: readonly RunFacts[]): readonly string[] {
  const { delegated = 0 } = run;
  const { side = [], below = [] } = Object.groupBy(family, (one) => (isSideRun(one) ? 'side' : 'below'));
  const sideCost = totalCost(side);
  const sideFacts = sideCost === '' ? [] : [`${countOf(side.length, 'request')} of the program itself for ${sideCost}`];
  if (below.length === 0)
    return [...(delegated === 0 ? [] : [`${countOf(delegated, 'subagent')} without a record`]), ...sideFacts];
  const calls = below.reduce((sum, { calls: count }) => sum + count, 0);
  const errors = below.reduce((sum, { errors: count }) => sum + count, 0);
  const refused = below.reduce((sum, { refused: count = 0 }) => sum + count, 0);
  const cost = totalCost(below);
  const failed = below.filter(({ verdict }) => hasFailed(verdict.verdict));
  const [first] = failed;
  const were = `${countText(failed.length)} failed or ${failed.length === 1 ? 'was' : 'were'} cut off`;
  const names =
    first === undefined
      ? ''
      : `; ${were}: ${namesOf(first).title} (${printableCut(first.verdict.evidence, NAME_CHARS)})`;
  return [
    `${countOf(below.length, 'subagent')}${onRecord(run, below)} with ${countOf(calls, 'call')}${errors === 0 ? '' : `, ${countOf(errors, 'error')}`}${refused === 0 ? '' : `, ${countText(refused)} refused`}${cost === '' ? '' : ` for ${cost}`}${names}`,
    ...sideFacts,
  ];
}

/** Empty if no run has a cost. */
export function totalCost(runs: readonly RunFacts[]): string {
  const { costUsd, isLeast: isPart } = sumOfCosts(runs);
  return costUsd === undefined ? '' : costText(costUsd, isPart);
}

export function outcomeText({ outcome, reason, success, reward }: RunOutcome): string {
  const facts = [...(success === undefined ? [] : [success ? 'it worked' : 'it did not work']), ...rewardFacts(reward)];
  const word = printableCut(reason === undefined ? inWords('outcome', outcome) : inWords('reason', reason), 60);
  return facts.length === 0 ? word : `${word} (${facts.join(', ')})`;
}

export function patternBlocks(run: RunFacts, hasEvidence = true): readonly Block[] {
  const shownPatterns = mostSerious(run.patterns);
  const leftOutCount = run.patterns.length - shownPatterns.length;
  const { cells, callsPerColumn } = run.strip;
  const scale = callsPerColumn === 1 ? '' : styled('dim', `  each mark is ${callsPerColumn} calls`);
  const failures = cells.split(/([×▪]+)/).map((part, index) => (index % 2 === 1 ? styled('bad', part) : part));
  const marks = shownPatterns.map((pattern, index) => markLine(pattern, letterOf(index), run));
  const items = shownPatterns.map((pattern, index) => patternItem(pattern, letterOf(index), run, hasEvidence));
  return [
    ...(cells === '' ? [] : [{ type: 'drawing', lines: [['  ', failures, scale], ...marks] } as const]),
    ...(items.length === 0 ? [] : [listBlock(items)]),
    ...(leftOutCount === 0 ? [] : [linesOf([`and ${countOf(leftOutCount, 'more pattern')}; --json lists all`])]),
  ];
}

function mostSerious(patterns: readonly PatternFacts[]): readonly PatternFacts[] {
  if (patterns.length <= MAX_PATTERNS) return patterns;
  const chosen = new Set([...patterns].sort((a, b) => seriousness(b) - seriousness(a)).slice(0, MAX_PATTERNS));
  return patterns.filter((pattern) => chosen.has(pattern));
}

function letterOf(index: number): string {
  return String.fromCodePoint(65 + index);
}

function markLine(pattern: TrajectoryPattern, letter: string, run: RunFacts): Text {
  const { clearedAt, firstSeen, flaggedAt, evidence, level } = pattern;
  const last = Math.max(firstSeen, flaggedAt ?? 0, evidence.at(-1) ?? 0);
  // A recorded pattern without an end was last seen at most a few calls before the end of the run.
  const to = run.patternBasis === 'recorded' && clearedAt === undefined ? Math.max(last, run.calls - 1) : last;
  return ['  ', styled(LEVEL_STYLE[level], spanLine({ from: firstSeen, to, flaggedAt }, run.strip)), ` ${letter}`];
}

function patternItem(pattern: PatternFacts, letter: string, run: RunFacts, hasEvidence: boolean): ListItem {
  const { kind, stuck, level, tool, firstSeen, flaggedAt, clearedAt, costUsd } = pattern;
  const facts = [
    flaggedAt === null
      ? `from call ${callNumber(firstSeen)}, never more than a hint`
      : `from call ${callNumber(firstSeen)}, noticed at call ${callNumber(flaggedAt)} of ${run.calls}`,
    `seen ${timesSeen(pattern, run.patternBasis)}`,
    clearedAt === undefined ? 'not over at the end' : `over by call ${callNumber(clearedAt)}`,
    ...(costUsd === undefined ? [] : [`${usdText(costUsd)} while it lasted`]),
  ];
  return {
    mark: { text: letter },
    head: [
      styled('strong', inWords('pattern', kind)),
      '  ',
      styled(LEVEL_STYLE[level], `${stuck ? 'stuck, ' : ''}${inWords('level', level)}`),
      tool === undefined ? '' : `  ${printableCut(tool, NAME_CHARS)}`,
    ],
    lines: [facts.join(', '), ...(hasEvidence ? evidenceLines(pattern, run) : [])],
  };
}

function evidenceLines(pattern: TrajectoryPattern, run: RunFacts): readonly Text[] {
  const width = String(run.calls).length + 1;
  return shownEvidence(pattern).flatMap((index): readonly Text[] => {
    const preview = run.previews[index];
    if (preview === undefined) return [];
    const mark = index === pattern.flaggedAt ? styled('warn', '▲') : ' ';
    const number = styled('dim', `#${callNumber(index)}`.padStart(width));
    const line = [mark, ' ', number, ` ${printableCut(preview.call, CALL_CHARS)}`];
    const { error, outcome } = preview;
    if ((error ?? outcome) === undefined) return [line];
    const why = error === undefined ? '' : printableCut(error, CALL_CHARS);
    // A refused or cancelled call is no failure.
    const end = outcome === undefined ? [styled('bad', '×'), ` ${why}`] : [[outcome, why].filter(Boolean).join(': ')];
    return [line, [' '.repeat(width + 3), ...end]];
  });
}

/** `╶──▲──╴`: `▲` marks the call that flagged the pattern, if any. */
export function spanLine(
  span: { readonly from: number; readonly to: number; readonly flaggedAt: number | null },
  { callsPerColumn }: StripText,
): string {
  const columnOf = (index: number): number => Math.floor(index / callsPerColumn);
  const firstColumn = columnOf(span.from);
  const to = Math.max(firstColumn, columnOf(span.to));
  const marks = Array.from({ length: to - firstColumn + 1 }, () => '─');
  if (marks.length > 1) {
    marks[0] = '╶';
    marks[marks.length - 1] = '╴';
  }
  if (span.flaggedAt !== null) {
    const flag = columnOf(span.flaggedAt) - firstColumn;
    if (flag >= 0 && flag < marks.length) marks[flag] = '▲';
  }
  return ' '.repeat(firstColumn) + marks.join('');
}

export function totalsBlocks(totals: RunTotals): readonly Block[] {
  const { all, outcomes, patterns } = totals;
  const counts = heading([countOf(all.runs, 'run'), ...countFacts(totals.counts)].join(', '));
  if (all.runs === 0) return [counts];
  const table = (
    words: 'outcome' | 'pattern',
    tallies: RunTotals['outcomes'],
    [lastHead, lastCell]: readonly [string, (tally: RunTally) => string],
  ): Block => ({
    type: 'table',
    head: [words, 'runs', 'share', lastHead],
    rows: tallies.map(([name, tally]) => [
      printableCut(inWords(words, name), NAME_CHARS),
      countText(tally.runs),
      intervalText(tally.runs, all.runs),
      lastCell(tally),
    ]),
  });
  return [
    counts,
    linesOf([
      styled('dim', 'shares with their 95 % interval, if the runs are a sample'),
      `stuck: ${countText(all.stuck)}, ${intervalText(all.stuck, all.runs)}`,
      ...(all.judged === 0 ? [] : [`succeeded: ${countText(all.succeeded)}, ${successShare(all)}`]),
    ]),
    table('outcome', outcomes, ['stuck', ({ runs, stuck }) => intervalText(stuck, runs)]),
    patterns.length === 0 ? linesOf(['no pattern']) : table('pattern', patterns, ['succeeded', successShare]),
  ];
}

function successShare({ succeeded, judged }: RunTally): string {
  return intervalText(succeeded, judged);
}

/** Formats a share of runs with its 95 % interval and its denominator: `25 % (8.9–53 %) of 12`; a dash if it is unknown. */
export function intervalText(part: number, whole: number): string {
  return whole === 0 ? '–' : `${rangeText(shareOf(part, whole))} of ${countText(whole)}`;
}

/** Claude Code makes work trees inside the project. */
const OWN_WORK_TREE = /^\.claude\/worktrees\/[^/]+\//;

/** Those of the project first. Temporary files are named only if a run changed no others. */
export function changedFiles({ filesChanged, project }: Pick<RunFacts, 'filesChanged' | 'project'>): readonly string[] {
  const shown = filesChanged.map((file) => {
    if (project === undefined) return file.replace(/^\.\//, '');
    // The session may come from Windows, whose shells write `/d/app` for `D:\app`.
    const isWindows = /^[A-Za-z]:[\\/]/.test(project);
    const place = isWindows ? file.replace(/^\/(?:mnt\/)?([A-Za-z])\//, '$1:/') : file;
    if (!(isWindows ? win32 : posix).isAbsolute(place)) return file.replace(/^\.\//, '');
    const path = isWindows ? win32.relative(project, place).replaceAll('\\', '/') : posix.relative(project, place);
    return path.startsWith('..') || win32.isAbsolute(path) ? file : path.replace(OWN_WORK_TREE, '');
  });
  const isOutside = (file: string): number => Number(win32.isAbsolute(file));
  const lasting = shown.filter((file) => !TEMPORARY.test(file)).toSorted((a, b) => isOutside(a) - isOutside(b));
  // In a project of temporary files, or in none, these are all there is.
  const isTemporaryProject = project === undefined || TEMPORARY.test(`${project}/`);
  return [...new Set(lasting.length > 0 || !isTemporaryProject ? lasting : shown)];
}
