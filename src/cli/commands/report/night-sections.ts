import { printableCut } from '../../../core/base/printable.ts';
import { present } from '../../../core/base/json.ts';
import { countText } from '../../../core/base/number-text.ts';
import { pressureOf } from '../../../core/facts/run-pressure.ts';
import { isStuckNow } from '../../../core/facts/seen-pattern.ts';
import type { RunFacts } from '../../../core/facts/run-facts.ts';
import { hasNoPrice, sumOfCosts } from '../../../core/facts/usage-text.ts';
import { needOf } from '../../../core/facts/run-alert.ts';
import { checkResult } from '../../../core/facts/run-verdict.ts';
import { causeInWords, inWords } from '../../../core/records/words.ts';
import { titlesOf } from '../../../core/facts/task-title.ts';
import { folderOfFile } from '../../../formats/find-sources.ts';
import { shownFolder } from '../../runs/machine-stores.ts';
import { familyOf, totalCost } from '../../runs/run-blocks.ts';

const TITLE_CHARS = 76;

export interface NightItem {
  /** The number that `coxswain N` opens, from 1. */
  readonly number: number;
  readonly verb: string;
  readonly project: string;
  readonly title: string;
  readonly why: string;
  /** True for a session at work that nearly fills its context or runs away. */
  readonly isPressed: boolean;
  readonly run: RunFacts;
  /** The runs that it started, and those that they started. */
  readonly below: readonly RunFacts[];
}

const SECTIONS = [
  ['waiting', 'Waits for you'],
  ['failed', 'Failed or cut off'],
  ['failing', 'Answered with a failed check'],
  ['stuck', 'Stuck now'],
  ['refused', 'Had a call refused'],
  ['asks', 'Asks a question'],
  ['open', 'At work'],
  ['answered', 'Answered without a passed check at the end'],
  ['stopped', 'Stopped'],
  ['unknown', 'No end on record'],
  ['worked', 'Worked'],
] as const;

export type SectionName = (typeof SECTIONS)[number][0];

export interface NightSection {
  readonly name: SectionName;
  readonly title: string;
  readonly items: readonly NightItem[];
}

const NEEDS: ReadonlySet<SectionName> = new Set(['waiting', 'failed', 'failing', 'stuck', 'refused', 'asks']);

/** How the verbs of lines that need the person are counted, of one and of more. Any other is counted as it is. */
const COUNTED: Readonly<Record<string, readonly [one: string, more: string]>> = {
  waits: ['waits for you', 'wait for you'],
  'failed check': ['with a failed check', 'with a failed check'],
  refused: ['had a call refused', 'had a call refused'],
  asks: ['asks a question', 'ask a question'],
};

export function isNeed({ name }: Pick<NightSection, 'name'>): boolean {
  return NEEDS.has(name);
}

export function needsPerson(run: RunFacts): boolean {
  return run.parentId === undefined && isNeed({ name: sectionNameOf(run) });
}

export function needsCount(sections: readonly NightSection[]): number {
  return sections.filter(isNeed).reduce((sum, { items }) => sum + items.length, 0);
}

/** The count of those that need the person and their cost, with the verbs of their lines and the causes of failures. */
export function needsText(sections: readonly NightSection[]): string {
  const items = sections.filter(isNeed).flatMap((section) => section.items);
  if (items.length === 0) return 'none needs you';
  const why = [...Map.groupBy(items, ({ verb }) => verb)].map(([verb, same]) => {
    const words = COUNTED[verb]?.[same.length === 1 ? 0 : 1] ?? verb;
    return `${countText(same.length)} ${words}${/^(?:failed|cut off)$/.test(verb) ? causesOf(same) : ''}`;
  });
  return `${countText(items.length)} ${items.length === 1 ? 'needs' : 'need'} you${costOf(items)}: ${why.join(', ')}`;
}

/** `, at least $1.20`, subagents included. Empty if unknown. */
export function costOf(items: readonly NightItem[]): string {
  const cost = totalCost(items.flatMap(({ below, run }) => [run, ...below]));
  return cost === '' ? '' : `, ${cost}`;
}

const MAX_CAUSES = 4;

/** The causes of failures. Empty for another section. */
export function causesText({ items, name }: NightSection): string {
  return name === 'failed' ? causesOf(items, Infinity) : '';
}

/** ` (5 rate limit, 3 killed)`; ` (killed)` if one cause stands for all. */
function causesOf(items: readonly NightItem[], max = MAX_CAUSES): string {
  const found = Map.groupBy(items, ({ run }) => causeInWords(run.verdict.cause ?? 'unknown'));
  const causes = [...found].toSorted(([, a], [, b]) => b.length - a.length);
  // One that is left takes no more room than its count.
  const shown = causes.length === max + 1 ? causes : causes.slice(0, max);
  const left = causes.slice(shown.length).reduce((sum, [, same]) => sum + same.length, 0);
  const texts = shown.map(([cause, same]) => (causes.length === 1 ? cause : `${countText(same.length)} ${cause}`));
  return ` (${[...texts, ...(left === 0 ? [] : [`${countText(left)} other`])].join(', ')})`;
}

/** What happened in a project. Only what the sessions' own commands showed. */
export interface ProjectBlock extends ProjectState {
  readonly project: string;
  readonly folder: string;
  readonly sessions: number;
  readonly worked: number;
  /** The same of the sessions that worked, and their subagents. Absent if none worked. */
  readonly ofWorked?: ProjectState;
}

/** What sessions of a project did. */
export interface ProjectState {
  readonly commits: number;
  readonly commitsOn: Readonly<Record<string, number>>;
  readonly commitsWithoutHooks: number;
  /** Files that the only session with changes changed after its last commit. Absent if several have: another may have committed them. */
  readonly uncommitted?: number;
  /** Those of all sessions, the latest session first. Absent if none. */
  readonly pullRequests?: readonly string[];
  readonly lastCheck?: string;
  readonly costUsd?: number;
  readonly withoutPrice: number;
  /** True if the cost is not all of it. */
  readonly isLeast: boolean;
}

/** Items that say the same. */
export interface AlikeItems {
  readonly section: SectionName;
  readonly first: NightItem;
  readonly items: readonly NightItem[];
}

/** Sessions of one project with the same known cause, or with the same task and reason. One that waits or hangs stays by itself. */
export function alikeItems({ items, name }: NightSection): readonly AlikeItems[] {
  if (name !== 'failed' && name !== 'failing' && name !== 'refused' && name !== 'asks' && name !== 'answered')
    return items.map((item) => ({ section: name, first: item, items: [item] }));
  const textOf = ({ project, run, title, verb, why }: NightItem): string => {
    // Two reasons that differ in times or counts are one.
    const reason = why.replaceAll(/\d+/g, '#');
    const isCause = name === 'failing' || (name === 'failed' && hasCause(run));
    return `${project} ${verb} ${isCause ? reason.replace(/; .*/, '') : `${title} ${reason}`}`;
  };
  return [...Map.groupBy(items, textOf).values()].flatMap((same) =>
    same.slice(0, 1).map((first) => ({ section: name, first, items: same })),
  );
}

/** `7–9, 12` */
export function numbersText(items: readonly NightItem[], most: number = Infinity): string {
  const ranges: (readonly [number, number])[] = [];
  for (const { number } of items.toSorted((a, b) => a.number - b.number)) {
    const [from, to] = ranges.at(-1) ?? [number, NaN];
    if (to + 1 === number) ranges.pop();
    ranges.push(to + 1 === number ? [from, number] : [number, number]);
  }
  const texts = ranges.map(
    ([from, to]) => `${countText(from)}${from === to ? '' : `${to - from === 1 ? ', ' : '–'}${countText(to)}`}`,
  );
  return [...texts.slice(0, most), ...(texts.length > most ? ['…'] : [])].join(', ');
}

/** @param numbers  numbers that runs have already, by id; the others come after them */
export function sectionsOf(
  runs: readonly RunFacts[],
  numbers: ReadonlyMap<string, number> = new Map(),
): readonly NightSection[] {
  const sessions = runs.filter(({ parentId }) => parentId === undefined);
  const names = projectNames(sessions);
  const titles = titlesOf(
    sessions.map(({ task }) => task),
    TITLE_CHARS,
  );
  const below = Map.groupBy(runs, ({ parentId }) => parentId);
  const titleOf = ({ id, task }: RunFacts): string => titles.get(task ?? '') ?? `run ${id}`;
  const nameOf = (run: RunFacts): string =>
    run.name === undefined ? titleOf(run) : printableCut(run.name, TITLE_CHARS);
  const byTitle = Map.groupBy(sessions, titleOf);
  const bySection = Map.groupBy(sessions, sectionNameOf);
  let last = Math.max(0, ...numbers.values());
  const sections = SECTIONS.flatMap(([name, title]): readonly NightSection[] => {
    const found = bySection.get(name) ?? [];
    if (found.length === 0) return [];
    const items = found
      .map((run) => {
        const family = familyOf(run, below);
        return { run, family, pressure: name === 'open' ? pressureText(run, family) : '' };
      })
      .toSorted((a, b) => urgencyOf(b, name) - urgencyOf(a, name) || b.run.lastAtMs - a.run.lastAtMs)
      .map(({ family, pressure, run }): NightItem => ({
        below: family,
        number: numbers.get(run.id) ?? (last += 1),
        verb: verbOf(run, name),
        project: names.get(folderOf(run)) ?? '',
        title: nameOf(run),
        why: [pressure, whyOf(run, name)].filter(Boolean).join('; '),
        isPressed: pressure !== '',
        run,
      }));
    return [{ name, title: `${title}${titleEnd(name, items)}`, items }];
  });
  return withNextSessions(sections, byTitle);
}

function withNextSessions(
  sections: readonly NightSection[],
  byTitle: ReadonlyMap<string, readonly RunFacts[]>,
): readonly NightSection[] {
  const numbers = new Map(sections.flatMap(({ items }) => items.map(({ number, run }) => [run, number] as const)));
  const nextOf = ({ plan = '', startedAtMs, verdict }: RunFacts): RunFacts | undefined =>
    verdict.cause === 'plan' ? byTitle.get(plan)?.find((later) => later.startedAtMs >= startedAtMs) : undefined;
  return sections.map((section) => ({
    ...section,
    items: section.items.map((item) => {
      const next = nextOf(item.run);
      const number = next === undefined || next === item.run ? undefined : numbers.get(next);
      return number === undefined ? item : { ...item, why: `its plan went on in ${number}` };
    }),
  }));
}

/** Says who stopped them, and why they worked, if that holds for all. */
function titleEnd(name: SectionName, items: readonly NightItem[]): string {
  const verdicts = items.map(({ run }) => run.verdict);
  if (name === 'stopped' && items.every(isStoppedByYou)) return ' by you';
  return name === 'worked' && verdicts.every(({ answer }) => answer !== undefined) ? ', last check passed' : '';
}

function isStoppedByYou({ run }: NightItem): boolean {
  return run.verdict.evidence.startsWith('stopped by you');
}

/** ` (3 by you)`, of a section of which that holds for some. */
export function stoppedText({ items }: NightSection): string {
  const count = items.filter(isStoppedByYou).length;
  return count === 0 || count === items.length ? '' : ` (${countText(count)} by you)`;
}

function sectionNameOf(run: RunFacts): SectionName {
  const { verdict } = run.verdict;
  const need = needOf(run.verdict, {
    alert: run.alert?.kind,
    asks: run.question !== undefined,
    isStuck: openPattern(run) !== undefined,
  });
  if (need !== undefined) return need;
  return verdict === 'cut_off' ? 'failed' : verdict;
}

function openPattern({ patterns }: RunFacts): RunFacts['patterns'][number] | undefined {
  return patterns.findLast(isStuckNow);
}

/**
 * Those that failed come first, then those with a known cause, and questions before offers; of the answered sessions, those that were stuck to their end; of those at
 * work, those that run away.
 */
function urgencyOf(
  { pressure, run }: { readonly pressure: string; readonly run: RunFacts },
  section: SectionName,
): number {
  if (section === 'failed') return Number(hasCause(run)) + Number(run.verdict.verdict === 'failed');
  const comesFirst = section === 'asks' ? !isOffer(run.question) : isStuckAnswer(run, section);
  return pressure !== '' || comesFirst ? 1 : 0;
}

/** Returns false for a session that was cut off and whose records do not say why. */
export function hasCause({ verdict }: RunFacts): boolean {
  return !/^(?:running|silent)$/.test(verdict.cause ?? '');
}

/** How an offer after finished work begins. */
const OPENING =
  /^(?:(?:so|and|or),? )?(?:would you like(?: me)? to|(?:do you )?want(?: me)? to)(?: help(?: you)?(?: with)?)?:? /i;
const OTHER_OFFER =
  /^(?:(?:souhaitez|voulez)-vous|(?:tu veux|veux-tu) que|¿quieres que|möchte(?:st du|n Sie)|quer que)(?=\s)|\bI can help\b|^(?:what else|you good)\b/i;

function isOffer(question = ''): boolean {
  return OPENING.test(question) || OTHER_OFFER.test(question);
}

/** What an offer is about: "Would you like me to push it?" becomes "push it?". */
export function withoutOpening(question: string): string {
  return question.replace(OPENING, '');
}

function isStuckAnswer(run: RunFacts, section: SectionName): boolean {
  return section === 'answered' && openPattern(run) !== undefined;
}

function verbOf({ alert, verdict }: RunFacts, section: SectionName): string {
  const { cause } = verdict;
  switch (section) {
    case 'waiting':
      return 'waits';
    case 'failed':
      return verdict.verdict === 'cut_off' ? 'cut off' : 'failed';
    case 'stuck':
      return alert === undefined ? 'stuck' : 'silent';
    case 'open':
      return 'at work';
    case 'answered':
      return cause === 'plan' ? 'planned' : 'answered';
    case 'failing':
      return 'failed check';
    default:
      return section;
  }
}

function whyOf(run: RunFacts, section: SectionName): string {
  if (section === 'asks') return run.question ?? '';
  if (section === 'stuck' && run.alert !== undefined) return run.alert.text.replace(/^has had /, '');
  const pattern = section === 'stuck' || isStuckAnswer(run, section) ? openPattern(run) : undefined;
  if (pattern !== undefined)
    return `${section === 'stuck' ? '' : 'stuck to its end: '}${inWords('pattern', pattern.kind)}`;
  return run.verdict.why ?? '';
}

/** Says that a session at work has nearly filled its context, or that it and its subagents run away. Empty if neither. */
function pressureText(run: RunFacts, below: readonly RunFacts[]): string {
  const family = [run, ...below];
  const starts = below.map(({ startedAtMs: atMs }) => ({ atMs, costUsd: 0, children: 1 }));
  const work = [...family.flatMap(({ recent }) => recent), ...starts];
  const nowMs = Math.max(...family.map(({ lastAtMs }) => lastAtMs));
  return pressureOf(run.context, work, nowMs)
    .map(({ text }) => text.replace(/^has /, ''))
    .join('; ');
}

export function projectBlocks(runs: readonly RunFacts[]): readonly ProjectBlock[] {
  const sessions = runs.filter(({ parentId }) => parentId === undefined);
  const names = projectNames(sessions);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const sessionOf = (run: RunFacts, depth = 0): RunFacts => {
    const parent = byId.get(run.parentId ?? '');
    return parent === undefined || depth === MAX_DEPTH ? run : sessionOf(parent, depth + 1);
  };
  // A subagent may work in another folder than its session, whose cost is that of both.
  const bySession = Map.groupBy(runs, (run) => sessionOf(run));
  const all = Map.groupBy(bySession, ([session]) => folderOf(session));
  return [...Map.groupBy(sessions, folderOf)]
    .map(([folder, own]) => projectBlock(folder, names.get(folder) ?? folder, { own, all: all.get(folder) ?? [] }))
    .toSorted((a, b) => b.sessions - a.sessions);
}

/** Deeper subagents count as sessions of their own; a circle of parents ends here too. */
const MAX_DEPTH = 16;

/** @param runs.all  the sessions, each with itself and its subagents */
function projectBlock(
  folder: string,
  project: string,
  { all, own }: { readonly own: readonly RunFacts[]; readonly all: readonly [RunFacts, readonly RunFacts[]][] },
): ProjectBlock {
  const familiesOf = (isShown: (session: RunFacts) => boolean): readonly RunFacts[] =>
    all.flatMap(([session, family]) => (isShown(session) ? family : []));
  const ofWorked = new Set(own.filter((run) => sectionNameOf(run) === 'worked'));
  const worked = stateOf({ own: [...ofWorked], all: familiesOf((session) => ofWorked.has(session)) });
  return {
    project,
    folder,
    sessions: own.length,
    worked: ofWorked.size,
    ...stateOf({ own, all: familiesOf(() => true) }),
    ...(ofWorked.size === 0 ? {} : { ofWorked: worked }),
  };
}

/** @param runs.all  the sessions and their subagents */
function stateOf({ all, own }: { readonly own: readonly RunFacts[]; readonly all: readonly RunFacts[] }): ProjectState {
  const latest = own.toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  const checked = latest.find(({ checks }) => checks.length > 0);
  const pullRequests = new Set(latest.flatMap(({ pullRequests: made = [] }) => made));
  const changing = all.filter(({ commits, filesChanged }) => commits > 0 || filesChanged.length > 0);
  return {
    commits: own.reduce((sum, { commits }) => sum + commits, 0),
    commitsWithoutHooks: own.reduce((sum, { commitsWithoutHooks = 0 }) => sum + commitsWithoutHooks, 0),
    commitsOn: sumOf(own.map(({ commitsOn = {} }) => commitsOn)),
    ...present({
      uncommitted: changing.length > 1 ? undefined : (changing[0]?.uncommitted ?? 0),
      lastCheck: checked && lastCheckText(checked),
    }),
    ...(pullRequests.size === 0 ? {} : { pullRequests: [...pullRequests] }),
    ...sumOfCosts(all),
    withoutPrice: all.filter(hasNoPrice).length,
  };
}

function lastCheckText({ checks, lastChange }: RunFacts): string | undefined {
  const check = checks.findLast(({ failed }) => failed) ?? checks.at(-1);
  if (check === undefined) return undefined;
  const isOld = lastChange !== undefined && lastChange.number > check.number;
  return `${printableCut(check.command, 40)} ${checkResult(check)}${isOld ? ' before the last change' : ''}`;
}

function sumOf(counts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [name, count] of counts.flatMap(Object.entries<number>)) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

export function folderOf({ project, source }: RunFacts): string {
  return project ?? folderOfFile(source);
}

/** Returns a name for each folder: its last part, with the parts before it where two are alike. `--project` takes these names. */
export function namesOfFolders(folders: ReadonlySet<string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (let left = [...folders], parts = 1; left.length > 0; parts += 1) {
    const lastParts = (folder: string): string =>
      shownFolder(folder).split(/[\\/]/).filter(Boolean).slice(-parts).join('/');
    const byName = Map.groupBy(left, lastParts);
    // A folder that is the end of another one has no further part.
    const isDone = (folder: string): boolean =>
      byName.get(lastParts(folder))?.length === 1 || folder.split(/[\\/]/).length <= parts;
    for (const folder of left.filter(isDone)) names.set(folder, lastParts(folder) || folder);
    left = left.filter((folder) => !names.has(folder));
  }
  return names;
}

function projectNames(runs: readonly RunFacts[]): ReadonlyMap<string, string> {
  return namesOfFolders(new Set(runs.map(folderOf)));
}
