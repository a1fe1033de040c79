import { fileURLToPath } from 'node:url';
import { readCases, scoreCases, totalOf } from './score-scenarios.ts';
import { CORPORA, foldCorpus, readMoments, scoreTruth, type FoldedRun } from './score-truth.ts';
import { sharedPath } from './shared-data.ts';

/** Everything by which detection is judged while it is developed, as short numbers; what is not there is left out. */
export async function detectionFigures(): Promise<Readonly<Record<string, number | string>>> {
  const folder = sharedPath('trajectories');
  const figures: Record<string, number | string> = {};
  if (folder !== undefined) {
    const moments = readMoments(fileURLToPath(new URL('../truth/moments.jsonl', import.meta.url)), 'build');
    for (const modern of [false, true]) {
      const runs: FoldedRun[] = [];
      for (const corpus of CORPORA.filter((each) => each.modern === modern)) {
        for await (const run of foldCorpus(corpus, folder)) runs.push(run);
      }
      const score = scoreTruth(runs, moments);
      const when = modern ? 'today' : 'older';
      if (!modern) figures['found'] = score.found;
      figures[`${when}Fine`] = score.flagged - score.flaggedStuck;
      figures[`${when}Success`] = score.succeededFlagged;
      figures[`${when}Alarms`] = score.alarms;
    }
  }
  const paths = {
    scenarios: sharedPath('scenarios'),
    windows: sharedPath('windows'),
    cases: fileURLToPath(new URL('../cases', import.meta.url)),
  };
  for (const [name, path] of Object.entries(paths)) {
    if (path === undefined) continue;
    const total = totalOf(scoreCases(readCases(path)).filter((score) => !score.debatable));
    figures[name] = `${total.found}/${total.falseAlarms}/${total.premature}`;
  }
  return figures;
}
