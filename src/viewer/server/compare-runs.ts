import type { Hono } from 'hono';
import { type AlignedPair, alignKeys } from '../../core/base/align-keys.ts';
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

/** Differing calls of the same tool are put side by side. Memory: about a kilobyte for each of 20,000 calls of a run. */
async function compareRunCalls(a: ComparedSide, b: ComparedSide): Promise<CompareAnswer> {
  const [left, right] = [await readRunCalls(a), await readRunCalls(b)];
  const rows = [...compareRows(alignKeys(left.keys, right.keys), left.calls, right.calls)];
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
