import { present } from '../../base/present.ts';
import type { AlignedAnswer, AlignedRun } from './api-shapes.ts';
import { callsOf, type ComparedSide, type RunCalls } from './compare-runs.ts';

/** Maximum number of calls shown, starting at the first difference. */
const MAX_SHOWN = 40;
/** Maximum number of equal calls shown before the first difference. */
const MAX_COMMON = 3;

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
  return { same, from, runs };
}
