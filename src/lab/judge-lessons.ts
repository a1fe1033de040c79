import { LessonBook, sessionsOf, type LessonRun, type LessonSession } from '../core/facts/lesson-book.ts';
import type { SavedReport, ShareReport } from './backtest-report.ts';
import { ratioOf, shareOf } from './statistics.ts';

export interface WrongWarning {
  readonly project: string;
  readonly runId: string;
  /** 1-based number of the call. */
  readonly number: number;
  readonly keys: readonly string[];
}

export interface ProjectLessons {
  readonly project: string;
  readonly sessions: number;
  /** Failed calls without tests, linters and compilers. */
  readonly failures: number;
  readonly checks: number;
  /** First calls of a session that lessons of earlier sessions expect to fail. */
  readonly warnings: number;
  readonly right: number;
  /** Right warnings whose call failed because of the key. */
  readonly sameCause: number;
  /** Failed calls of a key that was armed by earlier sessions. */
  readonly met: number;
}

export interface LessonFigures {
  readonly precision: ShareReport;
  readonly sameCause: ShareReport;
  /** Share of failed calls, without tests, linters and compilers, that a lesson met; the interval clusters by project. */
  readonly coverage: SavedReport;
  /** The same of all failed calls. */
  readonly coverageOfAll: SavedReport;
}

export interface LessonsReport {
  readonly version: 1;
  readonly projects: readonly ProjectLessons[];
  readonly all: LessonFigures;
  /** Without the two projects in which lessons meet most failures. */
  readonly withoutTwo: LessonFigures;
  readonly withoutAny: ShareReport;
  readonly wrong: readonly WrongWarning[];
}

/** Judges lessons forward in time: each session is compared with what the sessions before it taught. */
export function judgeLessons(runs: readonly LessonRun[]): LessonsReport {
  const wrong: WrongWarning[] = [];
  const byProject = Map.groupBy(runs, ({ project = '' }) => project);
  const projects = [...byProject]
    .map(([project, members]) => judgeProject(project, members, wrong))
    .toSorted((a, b) => b.met - a.met || (a.project < b.project ? -1 : 1));
  return {
    version: 1,
    projects,
    all: figuresOf(projects),
    withoutTwo: figuresOf(projects.slice(2)),
    withoutAny: shareOf(projects.filter(({ warnings }) => warnings === 0).length, projects.length),
    wrong,
  };
}

function judgeProject(project: string, runs: readonly LessonRun[], wrong: WrongWarning[]): ProjectLessons {
  const book = new LessonBook();
  const sum = { sessions: 0, failures: 0, checks: 0, warnings: 0, right: 0, sameCause: 0, met: 0 };
  for (const session of sessionsOf(runs)) {
    sum.sessions += 1;
    for (const { isRight, isSame, keys, number, runId } of warningsIn(session, book)) {
      sum.warnings += 1;
      if (isRight) sum.right += 1;
      else wrong.push({ project, runId, number, keys });
      if (isSame) sum.sameCause += 1;
    }
    for (const { kind, numbers } of session.failures) {
      if (kind === 'check') sum.checks += 1;
      else sum.failures += 1;
      if (kind !== 'check' && numbers.some((number) => book.armed(number) !== undefined)) sum.met += 1;
    }
    book.learn(session);
  }
  return { project, ...sum };
}

interface Warning extends Omit<WrongWarning, 'project'> {
  readonly isRight: boolean;
  readonly isSame: boolean;
}

/** One warning for each call that is the first of the session with an armed key. */
function warningsIn(session: LessonSession, book: LessonBook): readonly Warning[] {
  const armed = [...session.keys.values()].flatMap((run) => {
    const state = book.armed(run.key);
    return state === undefined ? [] : [{ run, text: state.key.text }];
  });
  const calls = Map.groupBy(armed, ({ run }) => `${run.number} ${run.runId}`);
  return [...calls.values()].flatMap((keys) => {
    const [first] = keys;
    if (first === undefined) return [];
    const { number, runId } = first.run;
    const isRight = keys.some(({ run }) => run.callFailed);
    return [
      {
        runId,
        number,
        keys: keys.map(({ text }) => text),
        isRight,
        isSame: keys.some(({ run }) => run.first === 'failed'),
      },
    ];
  });
}

function figuresOf(projects: readonly ProjectLessons[]): LessonFigures {
  const sum = (name: 'warnings' | 'right' | 'sameCause'): number =>
    projects.reduce((total, project) => total + project[name], 0);
  return {
    precision: shareOf(sum('right'), sum('warnings')),
    sameCause: shareOf(sum('sameCause'), sum('warnings')),
    coverage: ratioOf(projects.map(({ failures, met }) => ({ part: met, whole: failures }))),
    coverageOfAll: ratioOf(projects.map(({ checks, failures, met }) => ({ part: met, whole: failures + checks }))),
  };
}
