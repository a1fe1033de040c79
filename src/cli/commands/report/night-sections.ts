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
import { familyOf } from '../../runs/run-blocks.ts';

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
  ['failing', 'Answered, but a check failed'],
  ['stuck', 'Stuck now'],
  ['refused', 'Ended after a refusal'],
  ['asks', 'Answered with a question'],
  ['open', 'At work'],
  ['answered', 'Answered, not checked at its end'],
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

/** Why the sessions of these sections need the person. */
const NEEDS: Partial<Record<SectionName, string>> = {
  waiting: 'waiting',
  failed: 'failed or cut off',
  failing: 'with a failed check',
  stuck: 'stuck',
  refused: 'refused',
  asks: 'with a question',
};

export function isNeed({ name }: Pick<NightSection, 'name'>): boolean {
  return NEEDS[name] !== undefined;
}

export function needsPerson(run: RunFacts): boolean {
  return run.parentId === undefined && isNeed({ name: sectionNameOf(run) });
}

export function needsCount(sections: readonly NightSection[]): number {
  return sections.filter(isNeed).reduce((sum, { items }) => sum + items.length, 0);
}

/** @param note  added to the count, such as what is shown of it */
export function needsText(sections: readonly NightSection[], note = ''): string {
  const count = needsCount(sections);
  if (count === 0) return 'none needs you';
  const why = sections
    .filter(isNeed)
    .flatMap(({ items, name }) =>
      name === 'failed'
        ? [...Map.groupBy(items, ({ verb }) => verb)].map(
            ([verb, same]) => `${countText(same.length)} ${verb}${causesOf(same)}`,
          )
        : `${countText(items.length)} ${NEEDS[name] ?? ''}`,
    );
  return `${countText(count)} ${count === 1 ? 'needs' : 'need'} you${note}: ${why.join(', ')}`;
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

/** Sessions of one project with the same task, verb and reason, such as the restarts after one limit, are one line from here on. */
const LEAST_ALIKE = 3;

/** Items in a row that say the same. */
export interface AlikeItems {
  readonly section: SectionName;
  readonly first: NightItem;
  readonly items: readonly NightItem[];
}

/** A session that waits or hangs stays by itself: each needs the person. */
export function alikeItems({ items, name }: NightSection): readonly AlikeItems[] {
  if (name !== 'failed' && name !== 'failing' && name !== 'refused' && name !== 'asks' && name !== 'answered')
    return items.map((item) => ({ section: name, first: item, items: [item] }));
  const groups: AlikeItems[] = [];
  // Two reasons that differ in times or counts are one.
  const textOf = ({ project, title, verb, why }: NightItem): string =>
    `${project} ${verb} ${title} ${why.replaceAll(/\d+/g, '#')}`;
  for (const same of Map.groupBy(items, textOf).values()) {
    const [first] = same;
    if (first === undefined) continue;
    if (same.length >= LEAST_ALIKE) groups.push({ section: name, first, items: same });
    else groups.push(...same.map((item) => ({ section: name, first: item, items: [item] })));
  }
  return groups.toSorted((a, b) => items.indexOf(a.first) - items.indexOf(b.first));
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
    return [{ name, title, items }];
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

/** Those with a known cause come first; of the answered sessions, those that were stuck to their end; of those at work, those that run away. */
function urgencyOf(
  { pressure, run }: { readonly pressure: string; readonly run: RunFacts },
  section: SectionName,
): number {
  const isCauseKnown = section === 'failed' && !/^(?:running|silent)$/.test(run.verdict.cause ?? '');
  return pressure !== '' || isCauseKnown || isStuckAnswer(run, section) ? 1 : 0;
}

function isStuckAnswer(run: RunFacts, section: SectionName): boolean {
  return section === 'answered' && openPattern(run) !== undefined;
}

function verbOf({ alert, verdict }: RunFacts, section: SectionName): string {
  const { cause } = verdict;
  switch (section) {
    case 'waiting':
      return cause === 'question' ? 'answer' : cause === 'plan' ? 'decide' : 'allow';
    case 'failed':
      return verdict.verdict === 'cut_off' ? 'cut off' : 'failed';
    case 'stuck':
      return alert === undefined ? 'stuck' : 'silent';
    case 'open':
      return 'at work';
    case 'answered':
      return cause === 'plan' ? 'planned' : 'answered';
    case 'failing':
      return 'check';
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
  const all = Map.groupBy(runs, folderOf);
  return [...Map.groupBy(sessions, folderOf)]
    .map(([folder, own]) => projectBlock(folder, names.get(folder) ?? folder, { own, all: all.get(folder) ?? [] }))
    .toSorted((a, b) => b.sessions - a.sessions);
}

/** Deeper subagents count as sessions of their own; a circle of parents ends here too. */
const MAX_DEPTH = 16;

function projectBlock(
  folder: string,
  project: string,
  { all, own }: { readonly own: readonly RunFacts[]; readonly all: readonly RunFacts[] },
): ProjectBlock {
  const ofWorked = own.filter((run) => sectionNameOf(run) === 'worked');
  const ids = new Set(ofWorked.map(({ id }) => id));
  const parents = new Map(all.map(({ id, parentId }) => [id, parentId]));
  const sessionOf = (id: string, depth = 0): string => {
    const parent = parents.get(id);
    return parent === undefined || depth === MAX_DEPTH ? id : sessionOf(parent, depth + 1);
  };
  const below = all.filter(({ id }) => ids.has(sessionOf(id)));
  return {
    project,
    folder,
    sessions: own.length,
    worked: ofWorked.length,
    ...stateOf({ own, all }),
    ...(ofWorked.length === 0 ? {} : { ofWorked: stateOf({ own: ofWorked, all: below }) }),
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
