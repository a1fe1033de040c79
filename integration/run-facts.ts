import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { RunView } from '../src/core/facts/run-view.ts';

/** Calls with results and flags, patterns and turns of a run, for the comparison of sources. */
export interface Facts {
  readonly calls: readonly unknown[];
  readonly patterns: readonly unknown[];
  readonly turns: number;
}

export function factsOf(records: readonly TrajectoryRecord[], withFlags = true): Facts {
  const payloads = records.map(({ payload }) => payload);
  const view = new RunView({ detectors: defaultDetectors(), recompute: true });
  for (const record of records) view.fold(record);
  const ends = new Map(
    payloads.flatMap((one) => (one.kind === 'tool_ended' ? [[one.tool_call_id, one] as const] : [])),
  );
  return {
    calls: payloads.flatMap((one) => {
      if (one.kind !== 'tool_started') return [];
      const end = ends.get(one.tool_call_id);
      return [[one.tool_name, one.args, end?.result, ...(withFlags ? [end?.is_error] : [])]];
    }),
    patterns: view.patterns.patterns.map(({ pattern }) => [
      pattern.kind,
      pattern.level,
      pattern.evidence,
      pattern.flaggedAt,
    ]),
    turns: payloads.filter(({ kind }) => kind === 'turn_started').length,
  };
}
