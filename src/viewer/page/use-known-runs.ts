import type { BacktestReport, SignalReport } from '../../backtest/backtest-report.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import { getRows, type RunAddress } from './api.ts';
import type { KnownRuns } from './report-moments.tsx';
import { useLoaded } from './use-loaded.ts';

/** Maximum number of runs per request. This is the server's limit, and it keeps the address short enough. */
const MAX_ROWS = 100;
const MAX_CHARS = 6_000;
const NOTHING: KnownRuns = { absent: new Set() };

/**
 * Finds the runs of a report that no source contains. Until this is known, no run counts as absent. The same applies if a source is being
 * read, is truncated, or has a problem. In these cases, the link to a missing run shows that it was not found.
 */
export function useKnownRuns(report: BacktestReport, sources: readonly SourceRow[]): KnownRuns {
  const ids = runIdsOf(report);
  const absentRuns = useLoaded(JSON.stringify([ids, sources.map(({ id }) => id)]), () => absentOf(ids, sources));
  return absentRuns.value ?? NOTHING;
}

async function absentOf(ids: readonly string[], sources: readonly SourceRow[]): Promise<KnownRuns> {
  const canTell = sources.every(
    ({ indexing, problem, truncated }) => indexing === undefined && problem === undefined && truncated !== true,
  );
  if (!canTell) return NOTHING;
  const absent = new Set(ids);
  for (const { id: source } of sources) {
    // The requests are sequential, because each one makes the server read runs.
    for (const addresses of inPieces([...absent].map((runId) => ({ source, runId })))) {
      const { rows } = await getRows(addresses);
      for (const { runId } of rows) absent.delete(runId);
    }
  }
  return { absent };
}

function runIdsOf({ parts }: BacktestReport): readonly string[] {
  const ids = new Set<string>();
  for (const { byConfiguration } of parts) {
    for (const { advice, details, patterns, providers } of byConfiguration) {
      for (const signal of [advice, ...providers, ...details, ...patterns]) {
        // Older reports of the same version have no examples.
        const { examples }: Partial<Pick<SignalReport, 'examples'>> = signal;
        if (examples === undefined) continue;
        for (const { run } of [...examples.negative, ...examples.positive, ...examples.unlabelled]) ids.add(run);
      }
    }
  }
  return [...ids];
}

function* inPieces(addresses: readonly RunAddress[]): Generator<readonly RunAddress[], void, void> {
  let piece: RunAddress[] = [];
  let chars = 0;
  for (const address of addresses) {
    const addedChars = encodeURIComponent(encodeURIComponent(address.runId)).length + 20;
    if (piece.length > 0 && (piece.length >= MAX_ROWS || chars + addedChars > MAX_CHARS)) {
      yield piece;
      piece = [];
      chars = 0;
    }
    piece.push(address);
    chars += addedChars;
  }
  if (piece.length > 0) yield piece;
}
