import { present } from '../../base/present.ts';
import type { AlignedAnswer, AlignedRun, TellingStep } from './api-shapes.ts';
import { readRunCalls, type ComparedSide, type RunCalls } from './compare-runs.ts';

/** Maximum number of calls shown, starting at the first difference. */
const MAX_SHOWN = 40;
/** Maximum number of equal calls shown before the first difference. */
const MAX_EQUAL = 3;
/** Maximum number of telling steps. */
const MAX_STEPS = 8;

/**
 * Shows runs side by side from the first call that differs in its tool or arguments. Successful runs come first. It reads the first
 * 20,000 calls of each run.
 *
 * @throws CoxswainError if a store cannot be read
 */
export async function alignRuns(sides: readonly ComparedSide[]): Promise<AlignedAnswer> {
  const ordered = [...sides].sort((a, b) => Number(b.run.success === true) - Number(a.run.success === true));
  const callLists: RunCalls[] = [];
  for (const side of ordered) callLists.push(await readRunCalls(side));
  const keys = callLists[0]?.keys ?? [];
  const firstDifference = keys.findIndex((key, at) => callLists.some((list) => list.keys[at] !== key));
  const same = firstDifference < 0 ? keys.length : firstDifference;
  const from = Math.max(0, same - MAX_EQUAL);
  const runs = ordered.map(({ run, source, title }, at): AlignedRun => {
    const { modelId, outcome, runId, success } = run;
    const calls = callLists[at]?.calls ?? [];
    const shown = calls.slice(from, from + MAX_EQUAL + MAX_SHOWN);
    return Object.assign(
      { source, runId, title, total: calls.length, calls: shown },
      present({ modelId, outcome, success }),
    );
  });
  const judgedRuns = ordered.flatMap(({ run, source }, at) => {
    const list = callLists[at];
    return run.success === undefined || list === undefined
      ? []
      : [{ source, runId: run.runId, isGood: run.success, ...list }];
  });
  const passed = judgedRuns.filter(({ isGood }) => isGood).length;
  return { same, from, runs, passed, failed: judgedRuns.length - passed, steps: tellingSteps(judgedRuns, passed) };
}

interface JudgedRun extends RunCalls {
  readonly source: string;
  readonly runId: string;
  readonly isGood: boolean;
}

/** Returns the steps with the largest difference between their shares of the successful and of the failed runs. */
function tellingSteps(judgedRuns: readonly JudgedRun[], passed: number): readonly TellingStep[] {
  const failed = judgedRuns.length - passed;
  if (passed === 0 || failed === 0) return [];
  const steps = new Map<string, TellingStep>();
  for (const { calls, isGood, runId, source, targets } of judgedRuns) {
    const seenKeys = new Set<string>();
    for (const [index, call] of calls.entries()) {
      const target = targets[index] ?? '';
      const key = `${call.kind} ${target}`;
      if (call.failed || target === '' || seenKeys.has(key)) continue;
      seenKeys.add(key);
      const step = steps.get(key);
      // Successful runs come first. A step that none of them took is of no interest.
      if (step === undefined && !isGood) continue;
      const { kind, seq } = call;
      const countsBefore = step ?? { kind, what: target, passed: 0, failed: 0, example: { source, runId, seq } };
      steps.set(key, {
        ...countsBefore,
        passed: countsBefore.passed + (isGood ? 1 : 0),
        failed: countsBefore.failed + (isGood ? 0 : 1),
      });
    }
  }
  const shareDifference = (step: TellingStep): number => step.passed / passed - step.failed / failed;
  // A write says more about a solution than a read.
  const weight = ({ kind }: TellingStep): number => (kind === 'write' ? 1 : 0);
  return [...steps.values()]
    .filter((step) => shareDifference(step) > 0)
    .sort((a, b) => shareDifference(b) - shareDifference(a) || weight(b) - weight(a))
    .slice(0, MAX_STEPS);
}
