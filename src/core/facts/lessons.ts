import { present } from '../base/json.ts';
import { sharedPart } from '../base/printable.ts';
import type { CallKey } from './call-keys.ts';
import { instructionLineOf, mergedFiles, type InstructionFile, type InstructionLine } from './instruction-lines.ts';
import { isRefusedUnread, unreadKeyOf } from './failed-calls.ts';
import { holds, LessonBook, sessionsOf, type KeyState, type LessonRun, type PlacedFailure } from './lesson-book.ts';

const MAX_RUNS = 5_000;
const EXAMPLES = 2;
const KIND_ORDER = { name: 0, command: 1, call: 2 } as const;

export interface LessonExample {
  readonly runId: string;
  readonly source: string;
  /** 1-based number of the call. */
  readonly number: number;
}

export interface Lesson {
  readonly project: string;
  readonly key: CallKey;
  readonly tool: string;
  /** The call that fails, or what the calls that fail have in common. */
  readonly name: string;
  /** One of the calls. */
  readonly shown: string;
  /** That of most sessions. */
  readonly cause: string;
  readonly causes: number;
  readonly times: number;
  readonly sessions: number;
  /** Number of sessions that used it since it failed first, without those in which it failed for the cause of another lesson. */
  readonly ranIn: number;
  readonly calls: number;
  readonly ms: number;
  readonly tokens: number;
  readonly costUsd: number;
  /** Number of failures that the exit code does not show. */
  readonly hidden: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** `similar`: number of other sessions in which another call like it worked. */
  readonly worked?: { readonly shown: string; readonly sessions: number; readonly similar: number };
  /** False if it worked in the last session that ran it. */
  readonly stillHappens: boolean;
  /** True if it failed in that session and then worked; for an edit, with other content. */
  readonly recovered: boolean;
  /** The line of an instruction file that names it; null if none does; absent if the sessions show only parts of such files, which do not. */
  readonly instruction?: InstructionLine | null;
  readonly examples: readonly LessonExample[];
}

export interface Lessons {
  readonly projects: readonly string[];
  /** Those that still happen and cost the most calls first. */
  readonly lessons: readonly Lesson[];
  /** Failed calls of tests, linters and compilers, which fail because the work is not done. */
  readonly checks: number;
  /** Causes of which no call repeats: those in most sessions first. */
  readonly others: readonly OtherCause[];
}

/** Failed calls of one cause, such as edits whose text is not found, which name other things each time. Plain JSON. */
export type OtherCause = Pick<Lesson, 'project' | 'tool' | 'cause' | 'times' | 'sessions' | 'calls' | 'examples'>;

/** Runs are added in any order. Memory: 5,000 runs, each with at most 300 failures and 3,000 keys. */
export class LessonsFold {
  readonly #runs = new Map<string, LessonRun[]>();
  #count = 0;

  add(run: LessonRun): void {
    if (this.#count >= MAX_RUNS) return;
    this.#count += 1;
    const { project = '' } = run;
    const runs = this.#runs.get(project) ?? [];
    runs.push(run);
    this.#runs.set(project, runs);
  }

  lessons(instructionsOf: (project: string) => readonly InstructionFile[] | undefined = () => undefined): Lessons {
    let checks = 0;
    const all: Lesson[] = [];
    const others: OtherCause[] = [];
    for (const [project, runs] of this.#runs) {
      const book = new LessonBook();
      for (const session of sessionsOf(runs)) {
        book.learn(session);
        checks += session.failures.filter(({ kind }) => kind === 'check').length;
      }
      const { lessons: held, rest } = lessonsOf(project, book);
      const files = held.length === 0 ? undefined : instructionsOf(project);
      const shown = held.length === 0 ? [] : (files ?? shownInstructions(runs));
      for (const lesson of held) {
        const instruction = instructionLineOf(lesson, shown) ?? (files === undefined ? undefined : null);
        all.push({ ...lesson, ...present({ instruction }) });
      }
      others.push(...othersOf(project, rest));
    }
    const lessons = all.toSorted(
      (a, b) =>
        Number(b.stillHappens) - Number(a.stillHappens) ||
        b.calls - a.calls ||
        b.sessions - a.sessions ||
        (a.key.text < b.key.text ? -1 : 1),
    );
    return {
      projects: [...this.#runs.keys()],
      lessons,
      checks,
      others: others.toSorted((a, b) => b.sessions - a.sessions || b.calls - a.calls),
    };
  }
}

function shownInstructions(runs: readonly LessonRun[]): readonly InstructionFile[] {
  const inOrder = runs.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  return mergedFiles(inOrder.flatMap(({ instructions }) => instructions));
}

function lessonsOf(
  project: string,
  book: LessonBook,
): { readonly lessons: readonly Lesson[]; readonly rest: readonly PlacedFailure[] } {
  const held = [...book.held].toSorted(
    ([, a], [, b]) =>
      Number(holds(b)) - Number(holds(a)) ||
      b.failed - a.failed ||
      KIND_ORDER[a.key.kind] - KIND_ORDER[b.key.kind] ||
      b.key.text.length - a.key.text.length,
  );
  const order = new Map(held.map(([number], index) => [number, index]));
  const byKey = new Map<number, PlacedFailure[]>(held.map(([number]) => [number, []]));
  const rest: PlacedFailure[] = [];
  // Failures that are shown as the same belong to one lesson.
  const bestOf = new Map<string, number>();
  for (const [text, same] of Map.groupBy(book.failures, textOf)) {
    const numbers = same.flatMap((failure) => failure.numbers).filter((number) => order.has(number));
    const [best] = numbers.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
    if (best !== undefined) bestOf.set(text, best);
  }
  const ofUnread = new Map(held.map(([number, { key }]) => [key.text, number]));
  for (const failure of book.failures) {
    // An edit that the host refuses although the file was read belongs to those without a read before.
    const unread = isRefusedUnread(failure.cause) ? ofUnread.get(unreadKeyOf(failure.tool)) : undefined;
    const best = unread ?? bestOf.get(textOf(failure));
    if (best === undefined) rest.push(failure);
    else byKey.get(best)?.push(failure);
  }
  const lessons = held.flatMap(([number, state]) => {
    const failures = byKey.get(number) ?? [];
    if (sessionCount(failures) >= 2) return [lessonOf(project, ownState(book, failures) ?? state, state.key, failures)];
    rest.push(...failures);
    return [];
  });
  return { lessons, rest };
}

function textOf({ cause, keys, runId, number, shown, tool }: PlacedFailure): string {
  // A failure without keys teaches nothing about another one.
  return keys.length === 0 ? `${runId} ${number}` : `${tool}\n${shown}\n${cause}`;
}

/** The call as the agent made it, or what it has in common with the others: a flag may follow other words of its program. */
function nameOf({ kind, text }: CallKey, failures: readonly PlacedFailure[]): string {
  const [first, ...others] = failures.map(({ shown }) => shown);
  if (first !== undefined && others.every((shown) => shown === first)) return first;
  if (kind !== 'name') return text;
  if (text.includes(' ')) return failures.some(({ shown }) => shown.includes(text)) ? text : text.replace(' -', ' … -');
  // A program, a path or a flag alone names no failure: the calls begin alike, or one stands for them.
  const shared = failures
    .map(({ shown }) => shown)
    .reduce(sharedPart, first ?? text)
    .replace(/\s*\S*$/, '');
  return shared === '' ? (first ?? text) : `${shared} …`;
}

function sessionCount(failures: readonly PlacedFailure[]): number {
  return new Set(failures.map(({ sessionId }) => sessionId)).size;
}

function othersOf(project: string, failures: readonly PlacedFailure[]): readonly OtherCause[] {
  const groups = Map.groupBy(failures, ({ cause, tool }) => `${tool} ${cause}`);
  return [...groups.values()].flatMap((members) => {
    const [{ cause, tool } = { cause: '', tool: '' }] = members;
    const sessions = sessionCount(members);
    const { calls } = costsOf(members);
    return [{ project, tool, cause, times: members.length, sessions, calls, examples: examplesOf(members) }];
  });
}

/** The state of the call, if all failures are shown as the same one: its path or program may work in other calls. */
function ownState(book: LessonBook, failures: readonly PlacedFailure[]): KeyState | undefined {
  const [first] = failures;
  return failures.every(({ shown }) => shown === first?.shown) ? book.stateOf(failures.at(-1)?.numbers[0]) : undefined;
}

function lessonOf(project: string, state: KeyState, key: CallKey, failures: readonly PlacedFailure[]): Lesson {
  const fixed = failures.filter((one) => one.worked !== undefined);
  const most = mostOf(fixed.map((one) => [one.worked ?? '', one.sessionId]));
  const worked = most && { ...most, similar: sessionCount(fixed) - most.sessions };
  const sessions = sessionCount(failures);
  const cause = mostOf(failures.map((one) => [one.cause, one.sessionId]))?.shown ?? '';
  const ofCause = failures.filter((one) => one.cause === cause);
  // The call that is shown has the shown error, and is one after which the shown fix worked, if there is one.
  const last = ofCause.findLast((one) => one.worked === worked?.shown) ?? ofCause.at(-1);
  const times = failures.map(({ atMs }) => atMs).filter((atMs) => atMs > 0);
  return {
    project,
    key,
    tool: last?.tool ?? '',
    name: nameOf(key, failures),
    shown: last?.shown ?? '',
    cause,
    causes: new Set(failures.map((one) => one.cause)).size,
    times: failures.length,
    sessions,
    // Of edits that the host refuses as unread, it is not known which others it would have refused.
    ranIn: isRefusedUnread(cause) ? sessions : sessions + state.fine,
    ...costsOf(failures),
    hidden: failures.filter(({ kind }) => kind === 'hidden').length,
    firstAtMs: times.length === 0 ? 0 : Math.min(...times),
    lastAtMs: times.length === 0 ? 0 : Math.max(...times),
    ...present({ worked }),
    stillHappens: state.lastFailed,
    recovered: state.lastRecovered || failures.at(-1)?.recovered === true,
    examples: examplesOf(ofCause),
  };
}

function examplesOf(failures: readonly PlacedFailure[]): readonly LessonExample[] {
  const bySession = Map.groupBy(failures, ({ sessionId }) => sessionId);
  return [...bySession.values()]
    .slice(-EXAMPLES)
    .flatMap(([first]) =>
      first === undefined ? [] : [{ runId: first.runId, source: first.source, number: first.number }],
    );
}

/** Adds up the costs. Failures before the same success have one cost: that of the first. */
function costsOf(failures: readonly PlacedFailure[]): Pick<Lesson, 'calls' | 'ms' | 'tokens' | 'costUsd'> {
  const sum = { calls: 0, ms: 0, tokens: 0, costUsd: 0 };
  const coveredUntil = new Map<string, number>();
  for (const { calls, costUsd, ms, number, runId, tokens } of failures) {
    if (number < (coveredUntil.get(runId) ?? 0)) continue;
    coveredUntil.set(runId, number + calls);
    sum.calls += calls;
    sum.ms += ms;
    sum.tokens += tokens;
    sum.costUsd += costUsd;
  }
  return sum;
}

function mostOf(
  texts: readonly (readonly string[])[],
): { readonly shown: string; readonly sessions: number } | undefined {
  const sessions = new Map<string, Set<string>>();
  for (const [text = '', session = ''] of texts) {
    const known = sessions.get(text) ?? new Set();
    sessions.set(text, known.add(session));
  }
  const [best] = [...sessions].toReversed().toSorted(([, a], [, b]) => b.size - a.size);
  return best === undefined ? undefined : { shown: best[0], sessions: best[1].size };
}
