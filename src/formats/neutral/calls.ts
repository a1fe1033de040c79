import { isJsonObject, type JsonMembers, listOf, textOrUndefined } from '../../core/base/json.ts';
import { diagnosticItem, type ImportItem, type DocumentImporter, type LineImporter } from '../importer.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { asJson } from '../parts/source-content.ts';
import { neutralImporters, type NeutralPlace } from './neutral-form.ts';

interface CallEntry {
  readonly turn: unknown;
  readonly tool: string;
  readonly members: JsonMembers;
  readonly atMs: number | undefined;
}

const importers = neutralImporters('calls', confidenceOf, runItems);

/**
 * One run per document: `{id?, description?, calls: [{turn?, tool, args?, result?, isError?, atMs?, noResult?,
 * userBefore?}], outcomeSuccess?}`. Calls with the same `turn` (default: the index) start together. `userBefore` (true,
 * or the text) begins a turn.
 */
export const callsImporter: DocumentImporter = importers.document;

/** Reads JSON lines of the `calls` form, one run per line. */
export const callsLinesImporter: LineImporter = importers.lines;

function confidenceOf(value: unknown): number {
  if (!isJsonObject(value) || !Array.isArray(value['calls'])) return 0;
  const calls: readonly unknown[] = value['calls'];
  if (calls.length === 0) return typeof value['id'] === 'string' ? 0.4 : 0;
  const firstCall = calls[0];
  if (!isJsonObject(firstCall) || typeof firstCall['tool'] !== 'string') return 0;
  return 'result' in firstCall || 'isError' in firstCall || 'noResult' in firstCall ? 1 : 0.7;
}

function* runItems(value: unknown, { key, fallbackId, line }: NeutralPlace): Generator<ImportItem> {
  if (!isJsonObject(value) || !Array.isArray(value['calls'])) {
    yield diagnosticItem('error', 'not a run: it has no list `calls`', { line });
    return;
  }
  const task = value['task'] ?? value['description'];
  const items = new RunItems(key);
  yield items.begin('calls', {
    id: textOrUndefined(value['id']) ?? fallbackId,
    task: typeof task === 'string' ? task : undefined,
  });
  let turn: CallEntry[] = [];
  for (const [index, call] of listOf(value['calls']).entries()) {
    if (!isJsonObject(call) || typeof call['tool'] !== 'string') {
      yield diagnosticItem('error', `call ${index} has no \`tool\` and is left out`, { line });
      continue;
    }
    const entry = { turn: call['turn'] ?? index, tool: call['tool'], members: call, atMs: timeOf(call) };
    if (turn[0] !== undefined && (turn[0].turn !== entry.turn || hasUserBefore(call))) {
      yield* turnItems(turn, items);
      turn = [];
    }
    turn.push(entry);
  }
  yield* turnItems(turn, items);
  const success = value['outcomeSuccess'];
  yield* items.finish(typeof success === 'boolean' ? runEnded('ended', { success }) : undefined);
}

function* turnItems(turn: readonly CallEntry[], items: RunItems): Generator<ImportItem> {
  const [firstEntry] = turn;
  if (firstEntry === undefined) return;
  const { userBefore } = firstEntry.members;
  if (hasUserBefore(firstEntry.members)) {
    // The format may only say that there was a message, without its text.
    yield items.message('user', typeof userBefore === 'string' ? userBefore : '', firstEntry.atMs);
  }
  yield items.record({ kind: 'turn_started' }, firstEntry.atMs);
  for (const { tool: name, members, atMs } of turn) {
    yield items.record(items.calls.start({ name, args: asJson(members['args']) }), atMs);
  }
  // The oldest open call is the right one, because calls of this format have no ids and end in order.
  for (const { members, atMs } of turn) {
    const { isError, noResult, result } = members;
    if (noResult === true || !('result' in members)) {
      const missing = items.calls.end({ result: null, isError: false });
      if (missing !== undefined) yield items.record({ ...missing, result_missing: true }, atMs);
      continue;
    }
    const flag = typeof isError === 'boolean' ? isError : undefined;
    yield* items.result({ result: asJson(result), isError: flag }, atMs);
  }
}

function hasUserBefore(call: JsonMembers): boolean {
  return call['userBefore'] === true || typeof call['userBefore'] === 'string';
}

/** Returns the time, which may be relative. In a record, 0 means unknown. */
function timeOf({ atMs }: JsonMembers): number | undefined {
  return typeof atMs === 'number' && atMs >= 0 ? Math.max(1, atMs) : undefined;
}
