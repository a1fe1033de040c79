import { hashText } from '../../base/hash.ts';
import type { ReviewBy, ReviewMoment } from './cohort-shapes.ts';
import type { MatchedRun } from './match-runs.ts';

const MAX_MOMENTS = 500;
const MAX_OF_RUN = 3;

/**
 * Moments to be looked at: where a pattern was flagged, where advice was produced, or any call at all. Drawn by their hash, so that what
 * is looked at first says something about all of them, and is the same every time.
 */
export function reviewQueue(runs: readonly MatchedRun[], by: ReviewBy): readonly ReviewMoment[] {
  const moments = runs.flatMap((matched) => {
    const { listed, run } = matched;
    return callsOf(matched, by)
      .map((call) => ({ source: listed.source.id, runId: run.runId, call, place: hashText(`${run.runId}@${call}`) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .slice(0, MAX_OF_RUN);
  });
  return moments
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, MAX_MOMENTS)
    .map(({ call, runId, source }) => ({ call, runId, source }));
}

function callsOf({ extras, run }: MatchedRun, by: ReviewBy): readonly number[] {
  if (by === 'random') {
    const draws = Array.from({ length: Math.min(MAX_OF_RUN, run.calls) }, (_, at) => hashText(`${run.runId} ${at}`));
    return [...new Set(draws.map((hash) => 1 + (Number.parseInt(hash.slice(0, 8), 16) % run.calls)))];
  }
  if (extras === undefined) return [];
  return by === 'advice' ? extras.adviceCalls : [...new Set(extras.patternCalls)];
}
