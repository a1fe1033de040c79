import { present } from '../../base/present.ts';
import type { AlignedAnswer, AlignedRun, TellingStep } from './api-shapes.ts';
import { callsOf, type ComparedSide, type RunCalls } from './compare-runs.ts';

/** Maximum number of calls shown, starting at the first difference. */
const MAX_SHOWN = 40;
/** Maximum number of equal calls shown before the first difference. */
const MAX_COMMON = 3;
/** Maximum number of telling steps. */
const MAX_STEPS = 8;

/**
 * Shows runs side by side from the first call that differs in its tool or arguments. Successful runs come first. It reads the first
 * 20,000 calls of each run.
 *
 * @throws CoxswainError if a store cannot be read
 */
export async function alignedRuns(sides: readonly ComparedSide[]): Promise<AlignedAnswer> {
  const ordered = [...sides].sort((a, b) => Number(b.run.success === true) - Number(a.run.success === true));
  const lists: RunCalls[] = [];
  for (const side of ordered) lists.push(await callsOf(side));
  const [first] = lists;
  const keys = first?.keys ?? [];
  const differs = keys.findIndex((key, at) => lists.some((list) => list.keys[at] !== key));
  const same = differs < 0 ? keys.length : differs;
  const from = Math.max(0, same - MAX_COMMON);
  const runs = ordered.map(({ run, source }, at): AlignedRun => {
    const { modelId, outcome, runId, success } = run;
    const calls = lists[at]?.calls ?? [];
    const shown = calls.slice(from, from + MAX_COMMON + MAX_SHOWN);
    return Object.assign({ source, runId, total: calls.length, calls: shown }, present({ modelId, outcome, success }));
  });
  const judged = ordered.flatMap(({ run, source }, at) => {
    const list = lists[at];
    return run.success === undefined || list === undefined
      ? []
      : [{ source, runId: run.runId, isGood: run.success, ...list }];
  });
  const passed = judged.filter(({ isGood }) => isGood).length;
  return { same, from, runs, passed, failed: judged.length - passed, steps: tellingSteps(judged, passed) };
}

interface JudgedRun extends RunCalls {
  readonly source: string;
  readonly runId: string;
  readonly isGood: boolean;
}

/** Returns the steps with the largest difference between their shares of the successful and of the failed runs. */
function tellingSteps(judged: readonly JudgedRun[], passed: number): readonly TellingStep[] {
  const failed = judged.length - passed;
  if (passed === 0 || failed === 0) return [];
  const steps = new Map<string, TellingStep>();
  for (const { calls, isGood, runId, source, targets } of judged) {
    const seen = new Set<string>();
    for (const [at, call] of calls.entries()) {
      const what = targets[at] ?? '';
      const key = `${call.kind} ${what}`;
      if (call.failed || what === '' || seen.has(key)) continue;
      seen.add(key);
      const step = steps.get(key);
      // Successful runs come first. A step that none of them took is of no interest.
      if (step === undefined && !isGood) continue;
      const { kind, seq } = call;
      const before = step ?? { kind, what, passed: 0, failed: 0, example: { source, runId, seq } };
      steps.set(key, {
        ...before,
        passed: before.passed + (isGood ? 1 : 0),
        failed: before.failed + (isGood ? 0 : 1),
      });
    }
  }
  const lead = (step: TellingStep): number => step.passed / passed - step.failed / failed;
  // A write says more about a solution than a read.
  const weight = ({ kind }: TellingStep): number => (kind === 'write' ? 1 : 0);
  return [...steps.values()]
    .filter((step) => lead(step) > 0)
    .sort((a, b) => lead(b) - lead(a) || weight(b) - weight(a))
    .slice(0, MAX_STEPS);
}
