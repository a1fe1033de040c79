import { present } from '../../base/present.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import type { ToolEnded, TrajectoryPayload } from '../../records/trajectory-record.ts';
import { inferIsError } from '../../calls/answer-rules.ts';
import { resultText } from '../../calls/result-text.ts';
import { SourceCallIds } from '../parts/call-ids.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { sourceStem } from '../parts/source-name.ts';

type Members = Readonly<Record<string, unknown>>;

interface CallEntry {
  readonly turn: unknown;
  readonly tool: string;
  readonly members: Members;
}

/**
 * Reads the neutral `calls` form: one run per document,
 * `{id?, description?, calls: [{turn?, tool, args?, result?, isError?, atMs?, noResult?, userBefore?}], outcomeSuccess?}`.
 *
 * A turn is a stretch of calls with the same `turn` (default: the call's index); its calls start together, then
 * their results follow, both in order. A call with `userBefore` (true, or the message's text) begins a turn.
 */
export const callsImporter: DocumentImporter = {
  shape: 'document',
  format: 'calls',
  recognise: (document) => likeness(document),
  read: (document, source) => runItems(document, { key: 'run', fallbackId: sourceStem(source) }),
};

/** Reads JSON lines of the `calls` form, one run per line. */
export const callsLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'calls',
  recognise: (firstLines) => firstLines.reduce<number>((sum, line) => sum + likeness(line), 0) / firstLines.length,
  open: (source: ImportSource) => ({
    line: (value, lineNumber) =>
      runItems(value, { key: String(lineNumber), fallbackId: `${sourceStem(source)}-${lineNumber}`, line: lineNumber }),
    end: () => [],
  }),
};

function likeness(value: unknown): number {
  if (!isJsonObject(value) || !Array.isArray(value['calls'])) return 0;
  const calls: readonly unknown[] = value['calls'];
  if (calls.length === 0) return typeof value['id'] === 'string' ? 0.4 : 0;
  const first = calls[0];
  if (!isJsonObject(first) || typeof first['tool'] !== 'string') return 0;
  return 'result' in first || 'isError' in first || 'noResult' in first ? 1 : 0.7;
}

interface RunPlace {
  readonly key: string;
  readonly fallbackId: string;
  readonly line?: number;
}

function* runItems(value: unknown, place: RunPlace): Generator<ImportItem> {
  const { key } = place;
  const broken = (message: string): ImportItem => ({
    type: 'diagnostic',
    diagnostic: { severity: 'error', message, ...present({ line: place.line }) },
  });
  if (!isJsonObject(value) || !Array.isArray(value['calls'])) {
    yield broken('not a run: it has no list `calls`');
    return;
  }
  const id = typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : place.fallbackId;
  const task = value['task'] ?? value['description'];
  yield { type: 'run', run: { key, id, format: 'calls', ...(typeof task === 'string' ? { task } : {}) } };

  const ids = new SourceCallIds();
  let turn: CallEntry[] = [];
  for (const [index, call] of (value['calls'] as readonly unknown[]).entries()) {
    if (!isJsonObject(call) || typeof call['tool'] !== 'string') {
      yield broken(`call ${index} has no \`tool\` and is left out`);
      continue;
    }
    const entry: CallEntry = { turn: call['turn'] ?? index, tool: call['tool'], members: call };
    const isNewTurn = turn[0] !== undefined && (turn[0].turn !== entry.turn || hasUserBefore(call));
    if (isNewTurn) {
      yield* turnItems(turn, { key, ids });
      turn = [];
    }
    turn.push(entry);
  }
  if (turn.length > 0) yield* turnItems(turn, { key, ids });

  const success = value['outcomeSuccess'];
  if (typeof success === 'boolean') {
    yield recordItem(key, { kind: 'run_ended', outcome: 'ended', new_messages: [], success }, undefined);
  }
  yield { type: 'end', runKey: key };
}

function* turnItems(
  turn: readonly CallEntry[],
  run: { readonly key: string; readonly ids: SourceCallIds },
): Generator<ImportItem> {
  const { key, ids } = run;
  const first = turn[0]?.members ?? {};
  if (hasUserBefore(first)) {
    // The format may only say that there was a message, without its text.
    const content = typeof first['userBefore'] === 'string' ? first['userBefore'] : '';
    yield recordItem(key, { kind: 'message_appended', message: { role: 'user', content } }, first['atMs']);
  }
  yield recordItem(key, { kind: 'turn_started' }, first['atMs']);
  const started = turn.map(({ tool, members }) => {
    // Decoded documents contain only JSON.
    const args = (members['args'] ?? null) as Json;
    return { members, start: ids.start({ name: tool, args }) };
  });
  for (const { members, start } of started) yield recordItem(key, start, members['atMs']);
  for (const { members } of started) {
    const ended = endOf(members, ids);
    if (ended !== undefined) yield recordItem(key, ended, members['atMs']);
  }
}

/** Ends the oldest open call. It is the right one, because calls of this format have no ids and end in order. */
function endOf(call: Members, ids: SourceCallIds): ToolEnded | undefined {
  if (call['noResult'] === true || !('result' in call)) {
    const ended = ids.end({ result: null, isError: false });
    return ended === undefined ? undefined : { ...ended, result_missing: true };
  }
  // Decoded documents contain only JSON.
  const result = (call['result'] ?? null) as Json;
  const flag = call['isError'];
  if (typeof flag === 'boolean') return ids.end({ result, isError: flag });
  return ids.end({ result, isError: inferIsError(resultText(result)), inferred: true });
}

function hasUserBefore(call: Members): boolean {
  return call['userBefore'] === true || typeof call['userBefore'] === 'string';
}

function recordItem(runKey: string, payload: TrajectoryPayload, atMs: unknown): ImportItem {
  // Times may be relative. In a record, 0 means unknown.
  return {
    type: 'record',
    runKey,
    payload,
    ...(typeof atMs === 'number' && atMs >= 0 ? { atMs: Math.max(1, atMs) } : {}),
  };
}
