import type { Hono } from 'hono';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import { hashText } from '../../core/base/hash.ts';
import { readCall } from '../../core/detect/calls/tool-semantics.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { RunView } from '../../core/facts/run-view.ts';
import type { CallRow, CompareAnswer, CompareRow, ListedRow } from './api-shapes.ts';
import { undamagedRecords, type RunReader } from './read-records.ts';
import { runRowOf } from './run-list.ts';
import { type ViewerEnv, runOf, type ViewerState } from './sessions.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';

const MAX_CALLS = 20_000;
const PREVIEW_CHARS = 200;
const NAME_CHARS = 200;
/** How many differing calls ahead it searches for a call of the same tool. */
const TOOL_AHEAD = 20;

interface ComparedSide {
  readonly row: ListedRow;
  readonly run: RunSummary;
  readonly reader: RunReader;
}

/**
 * Differing calls of the same tool are put side by side. Memory: about a kilobyte for each of 20,000 calls of a run.
 */
async function compareRunCalls(a: ComparedSide, b: ComparedSide): Promise<CompareAnswer> {
  const [left, right] = [await readRunCalls(a), await readRunCalls(b)];
  const pairs = await alignKeys(left.keys, right.keys);
  const rows = [...compareRows(pairs, left.calls, right.calls)];
  return { a: a.row, b: b.row, rows, truncated: left.isCut || right.isCut };
}

interface RunCalls {
  readonly calls: readonly CallRow[];
  readonly keys: readonly string[];
  readonly isCut: boolean;
}

async function readRunCalls({ reader, run }: ComparedSide): Promise<RunCalls> {
  const calls: CallRow[] = [];
  const keys: string[] = [];
  const view = new RunView();
  for await (const record of undamagedRecords(reader, run)) {
    const call = view.fold(record);
    if (call === undefined) continue;
    if (call.number > calls.length) {
      if (calls.length >= MAX_CALLS) return { calls, keys, isCut: true };
      keys.push(hashText(`${call.tool}\n${canonicalJson(call.args)}`));
    }
    calls[call.number - 1] = callRowOf(call, errorLineOf(call, record));
  }
  return { calls, keys, isCut: false };
}

function* compareRows(
  pairs: readonly AlignedPair[],
  left: readonly CallRow[],
  right: readonly CallRow[],
): Generator<CompareRow> {
  let [onlyA, onlyB]: [CallRow[], CallRow[]] = [[], []];
  for (const [indexA, indexB] of pairs) {
    const a = indexA === null ? undefined : left[indexA];
    const b = indexB === null ? undefined : right[indexB];
    if (a !== undefined && b !== undefined) {
      yield* pairByTool(onlyA, onlyB);
      [onlyA, onlyB] = [[], []];
      yield { a, b, same: true };
    } else if (a !== undefined) onlyA.push(a);
    else if (b !== undefined) onlyB.push(b);
  }
  yield* pairByTool(onlyA, onlyB);
}

function* pairByTool(onlyA: readonly CallRow[], onlyB: readonly CallRow[]): Generator<CompareRow> {
  let nextIndexB = 0;
  for (const a of onlyA) {
    const distance = onlyB.slice(nextIndexB, nextIndexB + TOOL_AHEAD).findIndex(({ tool }) => tool === a.tool);
    const b = distance < 0 ? undefined : onlyB[nextIndexB + distance];
    if (b === undefined) {
      yield { a, same: false };
      continue;
    }
    for (const unpaired of onlyB.slice(nextIndexB, nextIndexB + distance)) yield { b: unpaired, same: false };
    yield { a, b, same: false };
    nextIndexB += distance + 1;
  }
  for (const b of onlyB.slice(nextIndexB)) yield { b, same: false };
}

function callRowOf({ args, failed, number, seq, tool }: RunCall, errorLine: string | undefined): CallRow {
  const line = errorLine?.trim().slice(0, PREVIEW_CHARS).toWellFormed() ?? '';
  return {
    call: number,
    seq,
    tool: tool.slice(0, NAME_CHARS).toWellFormed(),
    kind: readCall(tool, args).kind,
    argsPreview: previewOf(args).slice(0, PREVIEW_CHARS).toWellFormed(),
    failed,
    ...(line === '' ? {} : { errorLine: line }),
  };
}

function previewOf(args: unknown): string {
  const values: readonly unknown[] = typeof args === 'object' && args !== null ? Object.values(args) : [];
  const [onlyValue] = values;
  return values.length === 1 && typeof onlyValue === 'string' ? onlyValue : canonicalJson(args);
}

const EXTRAS_MS = 1_000;

export function addCompareRoutes(app: Hono<ViewerEnv>, state: ViewerState): void {
  const findSide = async ([source, runId]: readonly [string, string]): Promise<ComparedSide> => {
    const { listed, run } = await runOf(state, source, runId);
    const row = runRowOf(listed, run, await listed.overviews.extras(run, EXTRAS_MS));
    return { row, run, reader: await listed.source.reader() };
  };
  app.get('/api/compare', async (context) => {
    const { a = '', b = '' } = context.req.query();
    return context.json(await compareRunCalls(await findSide(splitKey(a)), await findSide(splitKey(b))));
  });
}

function splitKey(key: string): readonly [string, string] {
  const slash = key.indexOf('/');
  return [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
}

/** A pair of indices in two sequences. Null means that the element of the other sequence has no partner. */
type AlignedPair = readonly [number, number] | readonly [number, null] | readonly [null, number];

/** Maximum number of differences in one search. With more, the best path found is kept and the search restarts at its end. */
const MAX_DIFFERENCES = 200;

/**
 * Myers, "An O(ND) difference algorithm", in steps of a few milliseconds. If more than 200 shared keys in a row differ,
 * the result has nearly the fewest differences. Cost: at most O((n + m) · 200); about a megabyte of memory.
 */
export async function alignKeys(a: readonly string[], b: readonly string[]): Promise<readonly AlignedPair[]> {
  // A key that only one side contains never has a partner.
  const [keysOfA, keysOfB] = [new Set(a), new Set(b)];
  const left = a.flatMap((key, index) => (keysOfB.has(key) ? [index] : []));
  const right = b.flatMap((key, index) => (keysOfA.has(key) ? [index] : []));
  const keysAt = (keys: readonly string[], indices: readonly number[]): readonly string[] =>
    indices.map((index) => keys[index] ?? '');
  const pairs: AlignedPair[] = [];
  let [x, y] = [0, 0];
  const addUnpairedUntil = (endX: number, endY: number): void => {
    for (; x < endX; x += 1) pairs.push([x, null]);
    for (; y < endY; y += 1) pairs.push([null, y]);
  };
  for (const [leftIndex, rightIndex] of await alignShared(keysAt(a, left), keysAt(b, right))) {
    if (leftIndex === null || rightIndex === null) continue;
    const [nextX, nextY] = [left[leftIndex] ?? 0, right[rightIndex] ?? 0];
    addUnpairedUntil(nextX, nextY);
    pairs.push([nextX, nextY]);
    [x, y] = [nextX + 1, nextY + 1];
  }
  addUnpairedUntil(a.length, b.length);
  return pairs;
}

async function alignShared(a: readonly string[], b: readonly string[]): Promise<readonly AlignedPair[]> {
  const pairs: AlignedPair[] = [];
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    const steps = findSteps(a, b, x, y);
    for (const step of steps) pairs.push(step);
    await nextTurn();
    for (const [left, right] of steps) {
      if (left !== null) x = left + 1;
      if (right !== null) y = right + 1;
    }
  }
  return pairs;
}

/**
 * For each diagonal `k = x - y`, the farthest `x` that was reached with so many differences. `x` and `y` count from the start of the
 * search. Diagonal `k` is at index `k + ORIGIN`.
 */
type Reached = Int32Array;
const ORIGIN = MAX_DIFFERENCES + 1;

/** Returns the path from `(fromX, fromY)` to the end, or to the 200th difference. It has at least one step. */
function findSteps(a: readonly string[], b: readonly string[], fromX: number, fromY: number): readonly AlignedPair[] {
  const [n, m] = [a.length - fromX, b.length - fromY];
  const limit = Math.min(n + m, MAX_DIFFERENCES);
  const reached: Reached = new Int32Array(2 * ORIGIN + 1);
  const reachedBefore: Reached[] = [];
  for (;;) {
    const differences = reachedBefore.push(reached.slice()) - 1;
    let best = { x: 0, k: 0 };
    for (let k = -differences; k <= differences; k += 2) {
      let x = firstX(reached, k, differences);
      while (x < n && x - k < m && a[fromX + x] === b[fromY + x - k]) x += 1;
      reached[k + ORIGIN] = x;
      if (x <= n && x - k <= m && isBetter(x, k, best)) best = { x, k };
    }
    const isAtEnd = best.x === n && best.x - best.k === m;
    if (isAtEnd || differences === limit) return stepsTo(best, { reachedBefore, fromX, fromY });
  }
}

function stepsTo(
  end: { readonly x: number; readonly k: number },
  search: { readonly reachedBefore: readonly Reached[]; readonly fromX: number; readonly fromY: number },
): readonly AlignedPair[] {
  const { fromX, fromY, reachedBefore } = search;
  const steps: AlignedPair[] = [];
  let { k, x } = end;
  for (const [differences, reached] of [...reachedBefore.entries()].toReversed()) {
    const startX = firstX(reached, k, differences);
    for (; x > startX; x -= 1) steps.push([fromX + x - 1, fromY + x - 1 - k]);
    if (differences === 0) break;
    if (goesDown(reached, k, differences)) {
      steps.push([null, fromY + x - k - 1]);
      k += 1;
    } else {
      steps.push([fromX + x - 1, null]);
      x -= 1;
      k -= 1;
    }
  }
  return steps.toReversed();
}

/** Prefers the path that is farther in total, then the more balanced one. */
function isBetter(x: number, k: number, best: { readonly x: number; readonly k: number }): boolean {
  const advantage = 2 * x - k - (2 * best.x - best.k);
  return advantage > 0 || (advantage === 0 && Math.abs(k) < Math.abs(best.k));
}

function firstX(reached: Reached, k: number, differences: number): number {
  return goesDown(reached, k, differences) ? (reached[k + 1 + ORIGIN] ?? 0) : (reached[k - 1 + ORIGIN] ?? 0) + 1;
}

/** True if the latest difference is a key of `b`, so that the path comes from the diagonal above. */
function goesDown(reached: Reached, k: number, differences: number): boolean {
  if (k === -differences) return true;
  return k !== differences && (reached[k - 1 + ORIGIN] ?? 0) < (reached[k + 1 + ORIGIN] ?? 0);
}
