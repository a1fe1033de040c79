import { CheckLedger } from '../../src/core/facts/check-ledger.ts';
import { checkResult, type LastCheck } from '../../src/core/facts/run-verdict.ts';

export type Call = readonly [command: string, failure?: string | undefined, result?: string];

/** Folds commands, of which those with a failure failed with it. */
export function checksAfter(calls: readonly Call[], task?: string): readonly LastCheck[] {
  const ledger = new CheckLedger();
  for (const [index, [command, failure, result = 'ok']] of calls.entries()) {
    const call = { id: `c${index}`, number: index + 1, tool: 'Bash', args: { command }, seq: index, startLost: false };
    ledger.fold({ ...call, failed: failure !== undefined, resultMissing: false }, failure ?? result, task);
  }
  return ledger.checks;
}

export function failedAfter(...calls: readonly Call[]): readonly string[] {
  return checksAfter(calls)
    .filter(({ failed }) => failed)
    .map(({ command }) => command);
}

export function resultsAfter(...calls: readonly Call[]): readonly string[] {
  return checksAfter(calls).map((check) => `${check.command} ${checkResult(check)}`);
}
