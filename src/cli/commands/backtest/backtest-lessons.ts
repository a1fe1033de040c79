import { basename } from 'node:path';

import { countText, rangeText } from '../../../core/base/number-text.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import type { LessonRun } from '../../../core/facts/lesson-book.ts';
import { findSources } from '../../../formats/find-sources.ts';
import { RunIds } from '../../../formats/run-ids.ts';
import { judgeLessons, type LessonFigures, type LessonsReport } from '../../../lab/judge-lessons.ts';
import { storeKindAt } from '../../../stores/registry/open-store.ts';
import { linesOf, sectionOf, styled, type Block, type Document } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { openReadableStore } from '../../runs/open-store.ts';
import type { Problems } from '../../runs/problems.ts';
import { projectOfSource, runsOfSources, runsOfStore } from '../../runs/runs-from.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const SHOWN_WRONG = 20;
const NAME_CHARS = 40;

/** Of several paths, each is one project; the runs of one path belong to the projects that they name. */
export async function backtestLessons(
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
  // The outcome of a call does not depend on detectors.
  const detectors = [] as const;
  if ((await storeKindAt(path)) === undefined) {
    const query = { problems, detectors, ids: new RunIds(), reportsDamage: true };
    for await (const found of runsOfSources(findSources([path]), query))
      yield lessonRunOf(found, await projectOfSource(found.source));
    return;
  }
  const store = await openReadableStore(path);
  try {
    for await (const found of runsOfStore(store, { sinceMs: 0, place: path, detectors }))
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
                `${printableCut(basename(project), NAME_CHARS)}, call ${countText(number)} of ${printableCut(runId, 80)}: ${printableCut(keys.join('; '), 120)}`,
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
