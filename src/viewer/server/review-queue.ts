import type { Label } from '../../lab/labels.ts';
import { hashText } from '../../core/base/hash.ts';
import type { ReviewBy, ReviewMoment } from './api-shapes.ts';
import type { MatchedRun } from './match-runs.ts';

const MAX_MOMENTS = 500;
const MAX_OF_RUN = 3;

/**
 * Returns the calls to review: the calls at which a pattern was flagged or advice was produced, or any calls. There are at most three per
 * run. The order comes from a hash, so the first calls are a sample of all, and the order is always the same.
 */
export function reviewQueue(
  runs: readonly MatchedRun[],
  by: Exclude<ReviewBy, 'disagreement'>,
): readonly ReviewMoment[] {
  return sortByHash(
    runs.flatMap((matched) =>
      sortByHash(callsOf(matched, by).map((call) => toMoment(matched, call))).slice(0, MAX_OF_RUN),
    ),
  );
}

/**
 * Returns labelled calls for which the patterns contradict the label. Either the call is labelled stuck and no warning precedes it, or it
 * is labelled fine and a pattern was flagged at it. A label of a whole run is compared with whether the run was ever stuck. Its entry in
 * the queue is the first warning, or else the last call.
 */
export function disagreements(runs: readonly MatchedRun[], labels: readonly Label[]): readonly ReviewMoment[] {
  const targets = new Map(labels.map(({ id, target }) => [id, target]));
  const calls = Map.groupBy(labels, ({ id }) => id.replace(/@\d+$/, ''));
  return sortByHash(
    runs.flatMap((matched) => {
      const { extras, run } = matched;
      if (extras === undefined) return [];
      const { patternCalls, stuck, wasted } = extras;
      const runTarget = targets.get(run.runId);
      const moments = (calls.get(run.runId) ?? []).flatMap(({ id, target }) => {
        if (id === run.runId) return [];
        const call = Number(id.slice(run.runId.length + 1));
        const isWrong =
          target === 'stuck' ? call < (wasted?.call ?? Infinity) : target === 'ok' && patternCalls.includes(call);
        return isWrong ? [toMoment(matched, call)] : [];
      });
      const isWrong = runTarget === 'stuck' ? !stuck : runTarget === 'ok' && stuck;
      return isWrong ? [...moments, toMoment(matched, wasted?.call ?? run.calls)] : moments;
    }),
  );
}

function toMoment({ listed, run }: MatchedRun, call: number): ReviewMoment {
  return { source: listed.source.id, runId: run.runId, call };
}

function sortByHash(moments: readonly ReviewMoment[]): readonly ReviewMoment[] {
  return moments
    .map((moment) => ({ moment, hash: hashText(`${moment.runId}@${moment.call}`) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    .slice(0, MAX_MOMENTS)
    .map(({ moment }) => moment);
}

function callsOf({ extras, run }: MatchedRun, by: Exclude<ReviewBy, 'disagreement'>): readonly number[] {
  if (by === 'random') {
    const draws = Array.from({ length: Math.min(MAX_OF_RUN, run.calls) }, (_, at) => hashText(`${run.runId} ${at}`));
    return [...new Set(draws.map((hash) => 1 + (Number.parseInt(hash.slice(0, 8), 16) % run.calls)))];
  }
  if (extras === undefined) return [];
  return by === 'advice' ? extras.adviceCalls : [...new Set(extras.patternCalls)];
}
