import type { GateReport, PartReport } from './backtest-report.ts';
import { rounded } from './statistics.ts';

/** Limits that a configuration must satisfy, for automated checks. */
export interface Gates {
  /** Maximum share of successful runs with advice, from 0 to 1. */
  readonly maxFalseRate?: number;
  /** Minimum share of failed runs with advice, from 0 to 1. */
  readonly minRecall?: number;
  /** Maximum number of advice firings per 100 calls. */
  readonly maxAdvicePer100Calls?: number;
}

/** Checks the gates against the last configuration in this part. A gate with an unknown figure fails. */
export function judgeGates(gates: Gates, part: PartReport | undefined): readonly GateReport[] {
  const advice = part?.byConfiguration.at(-1)?.advice;
  const place = part === undefined || part.name === 'all' ? '' : ` on ${part.name}`;
  const reports: GateReport[] = [];
  const judge = (
    gate: GateReport['gate'],
    limit: number | undefined,
    {
      value,
      what,
      unknown,
    }: { readonly value: number | null | undefined; readonly what: string; readonly unknown: string },
  ): void => {
    if (limit === undefined) return;
    if (value === undefined || value === null) {
      reports.push({
        gate,
        limit,
        value: null,
        passed: false,
        reason: `${gate} ${limit}: unknown${place}: ${unknown}`,
      });
      return;
    }
    const hasPassed = gate === 'min-recall' ? value >= limit : value <= limit;
    const relation = hasPassed ? 'within' : gate === 'min-recall' ? 'below' : 'over';
    const reason = `${gate}: ${what}${place} is ${rounded(value)}, ${relation} ${limit}`;
    reports.push({ gate, limit, value: rounded(value), passed: hasPassed, reason });
  };
  judge('max-false-rate', gates.maxFalseRate, {
    value: advice?.falseRate.share,
    what: 'the share of successful runs with advice',
    unknown: 'no run is known to have succeeded',
  });
  judge('min-recall', gates.minRecall, {
    value: advice?.recall.share,
    what: 'the share of failed runs with advice',
    unknown: 'no run is known to have failed',
  });
  judge('max-advice-per-100-calls', gates.maxAdvicePer100Calls, {
    value: advice?.per100Calls,
    what: 'advice per 100 calls',
    unknown: 'no run has a call',
  });
  return reports;
}
