import { namesIn } from '../../core/node/state-places.ts';
import { wordSet } from '../../core/base/word-set.ts';
import { basename, dirname, join } from 'node:path';
import {
  type JsonMembers,
  membersOf,
  textOrUndefined,
  isJsonObject,
  listOf,
  numberOrUndefined,
  present,
} from '../../core/base/json.ts';
import { confidence, ObjectLines, documentsIn, plainText } from '../parts/object-lines.ts';
import type { ImportItem, DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import {
  sourceStem,
  sourceTimeMs,
  sourceBlock,
  namedCall,
  namedUsage,
  usageOfProvider,
} from '../parts/source-content.ts';
import { type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { SessionItems, type SessionIdentity, type SessionResult } from '../parts/session-items.ts';
import { SkipCounts } from '../parts/skip-counts.ts';

const SESSION_ID = /^ses_\w{1,80}$/;

/** The output of `opencode export`, or a file of `storage/session/<project>` before 1.2, with its messages in sibling folders. */
export const opencodeImporter: DocumentImporter = {
  shape: 'document',
  format: 'opencode',
  recognise(document) {
    const { info, messages, id, directory } = membersOf(document);
    if (Array.isArray(messages) && SESSION_ID.test(String(membersOf(info).id))) return 0.98;
    return typeof id === 'string' && SESSION_ID.test(id) && typeof directory === 'string' ? 0.95 : 0;
  },
  *read(document, source) {
    const { info, messages, ...stored } = membersOf(document);
    const isExport = isJsonObject(info);
    const id = textOrUndefined(stored.id) ?? '';
    const readMessages = isExport ? messagesOf(messages) : SESSION_ID.test(id) ? storedMessages(source.path, id) : [];
    yield* opencodeSession(isExport ? info : stored, readMessages, sourceStem(source));
  },
};

const LINE_TYPES: ReadonlySet<unknown> = wordSet('step_start step_finish text reasoning tool_use error');

export const opencodeLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'opencode',
  recognise(firstLines) {
    return confidence(firstLines, ({ type, sessionID }) => LINE_TYPES.has(type) && typeof sessionID === 'string', {
      all: 0.97,
      some: 0.8,
    });
  },
  open: (source) => new OpencodeLines(source),
};

class OpencodeLines extends ObjectLines {
  readonly #run: OpencodeRun;

  constructor(source: ImportSource) {
    super();
    this.#run = new OpencodeRun({ id: sourceStem(source) });
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    const id = textOrUndefined(value.sessionID);
    if (id !== undefined) this.#run.session.identify({ id, conversationId: id });
    const atMs = sourceTimeMs(value.timestamp);
    if (value.type === 'error') yield* this.#run.error(value.error, atMs);
    else {
      const part = membersOf(value.part);
      yield* this.#run.part(part, { atMs });
      if (part.type === 'step-finish') this.#run.finished(part.reason, atMs);
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#run.session.finish();
  }
}

const ENTRY_ID = /^\w{1,80}$/;

/** Oldest first: the ids increase with time. Files that cannot be read are skipped. */
function* storedMessages(
  sessionFile: string,
  sessionId: string,
): Generator<{ readonly info: JsonMembers; readonly parts: readonly unknown[] }> {
  const storage = dirname(dirname(dirname(sessionFile)));
  for (const info of documentsIn(join(storage, 'message', sessionId))) {
    const id = textOrUndefined(info.id) ?? '';
    yield { info, parts: ENTRY_ID.test(id) ? [...documentsIn(join(storage, 'part', id))] : [] };
  }
}

/** The files of the messages and parts of a session, which are not in its own file. */
export function* storedFiles(sessionFile: string): Generator<string> {
  const storage = dirname(dirname(dirname(sessionFile)));
  const messages = join(storage, 'message', basename(sessionFile, '.json'));
  for (const message of namesIn(messages)) {
    yield join(messages, message);
    const parts = join(storage, 'part', basename(message, '.json'));
    for (const part of namesIn(parts)) yield join(parts, part);
  }
}

/** Types of parts that describe how an answer was produced. */
const BESIDE: ReadonlySet<unknown> = new Set(['step-start', 'step-finish', 'snapshot', 'patch', 'retry']);

class OpencodeRun {
  readonly session: SessionItems;
  readonly skipped: SkipCounts = new SkipCounts();

  constructor(identity: Omit<SessionIdentity, 'format'>) {
    this.session = new SessionItems({ ...identity, format: 'opencode' });
  }

  *message(info: JsonMembers, parts: readonly unknown[]): Generator<ImportItem> {
    const atMs = sourceTimeMs(membersOf(info.time).created);
    if (info.role === 'user') {
      yield* this.#userItems(parts, atMs);
      return;
    }
    let steps = 0;
    const hasSteps = parts.some((part) => membersOf(part).type === 'step-finish');
    for (const value of parts) {
      const part = membersOf(value);
      if (part.type === 'step-start') steps += 1;
      yield* this.part(
        { ...part, messageID: `${plainText(info.id)}/${steps}` },
        { atMs, modelId: textOrUndefined(info.modelID) },
      );
    }
    if (!hasSteps) this.session.usage(opencodeUsage(info, textOrUndefined(info.modelID)));
    yield* this.error(info.error, atMs);
    this.finished(info.finish, sourceTimeMs(membersOf(info.time).completed));
  }

  /** Reads a part of an answer. Parts with the same `messageID` belong to one answer. */
  *part(
    part: JsonMembers,
    context: { readonly atMs: number | undefined; readonly modelId?: string | undefined },
  ): Generator<ImportItem> {
    const messageId = textOrUndefined(part.messageID);
    const { modelId } = context;
    const atMs = writtenAtMs(part) ?? context.atMs;
    switch (part.type) {
      case 'text':
      case 'reasoning': {
        const text = textOrUndefined(part.text);
        if (text === undefined) return;
        yield* this.session.answer({ messageId, parts: [{ type: part.type, text }], modelId }, atMs);
        break;
      }
      case 'tool':
        yield* this.session.answer({ messageId, parts: [{ type: 'call', call: callOf(part) }], modelId }, atMs);
        yield* this.#resultItems(part);
        break;
      case 'step-finish':
        this.session.usage(opencodeUsage(part, modelId));
        break;
      default:
        if (!BESIDE.has(part.type)) this.skipped.add(`${plainText(part.type)} parts`);
    }
  }

  finished(reason: unknown, atMs: number | undefined): void {
    if (reason === 'stop') this.session.outcome('ended', atMs);
  }

  *error(error: unknown, atMs: number | undefined): Generator<ImportItem> {
    const { name, data } = membersOf(error);
    if (name === undefined) return;
    const message = plainText(membersOf(data).message ?? name);
    yield* this.session.failure(message, atMs);
    const isStop = name === 'MessageAbortedError';
    this.session.outcome(
      isStop ? { outcome: 'aborted', reason: 'interrupted' } : statedFailure(message, name, membersOf(data).statusCode),
      atMs,
    );
  }

  *#userItems(parts: readonly unknown[], atMs: number | undefined): Generator<ImportItem> {
    this.session.outcome(undefined, atMs);
    const members = parts.map((part) => membersOf(part));
    for (const { type, auto } of members) {
      const trigger = auto === false ? 'manual' : 'auto';
      if (type === 'compaction') yield* this.session.compaction(trigger, atMs);
    }
    const shownParts = members.filter(({ type, ignored }) => type !== 'compaction' && ignored !== true);
    const addedParts = shownParts.filter(({ synthetic }) => synthetic === true);
    const userBlocks = shownParts.filter(({ synthetic }) => synthetic !== true).map((part) => sourceBlock(part));
    yield* this.session.system(
      addedParts.map((part) => sourceBlock(part)),
      atMs,
    );
    yield* this.session.user(userBlocks, atMs, textOfContent(userBlocks));
  }

  *#resultItems(part: JsonMembers): Generator<ImportItem> {
    const state = membersOf(part.state);
    if (state.status !== 'completed' && state.status !== 'error') return;
    const { start, end } = membersOf(state.time);
    const startMs = numberOrUndefined(start);
    const endMs = numberOrUndefined(end);
    const exitCode = numberOrUndefined(membersOf(state.metadata).exit) ?? 0;
    const result: SessionResult = {
      sourceId: textOrUndefined(part.callID),
      result: plainText((state.status === 'error' ? state.error : state.output) ?? ''),
      // opencode reports a call of a tool that does not exist as a call of the tool `invalid`.
      isError: state.status === 'error' || exitCode !== 0 || part.tool === 'invalid',
      exitCode,
      durationMs: startMs === undefined || endMs === undefined ? undefined : endMs - startMs,
      atMs: endMs,
    };
    yield* this.session.result(result);
  }
}

/** When the model had written the part: a message has the time at which the model was asked. */
function writtenAtMs({ state, time, type }: JsonMembers): number | undefined {
  const { end, start } = membersOf(type === 'tool' ? membersOf(state).time : time);
  return sourceTimeMs(type === 'tool' ? start : (end ?? start));
}

function callOf(part: JsonMembers): CallShape {
  const { input } = membersOf(part.state);
  const requestedName = part.tool === 'invalid' ? textOrUndefined(membersOf(input).tool) : undefined;
  return namedCall(part.callID, requestedName ?? part.tool, input);
}

/** Cached tokens are not part of the input, nor reasoning tokens of the output. An answer has zeros until it is complete. */
function opencodeUsage({ tokens, cost }: JsonMembers, modelId: string | undefined): StoredUsage | undefined {
  const { input, output, reasoning, cache } = membersOf(tokens);
  const counts = [input, output, reasoning, membersOf(cache).read, membersOf(cache).write];
  if (counts.every((count) => !count)) return undefined;
  const usage = {
    input_tokens: input,
    output_tokens: (numberOrUndefined(output) ?? 0) + (numberOrUndefined(reasoning) ?? 0),
    cache_read_tokens: membersOf(cache).read,
    cache_write_tokens: membersOf(cache).write ?? 0,
    reasoning_tokens: reasoning,
    cost_usd: cost === 0 ? undefined : cost,
  };
  return usageOfProvider(namedUsage(usage), modelId, 'beside');
}

/** @param messages  messages with their parts, in order */
export function* opencodeSession(
  info: JsonMembers,
  messages: Iterable<{ readonly info: JsonMembers; readonly parts: readonly unknown[] }>,
  fallbackId: string,
): Generator<ImportItem> {
  const id = textOrUndefined(info.id) ?? fallbackId;
  const parentId = textOrUndefined(info.parentID);
  const agentName = parentId === undefined ? undefined : textOrUndefined(info.agent);
  const run = new OpencodeRun({ id, conversationId: parentId ?? id, ...present({ parentId, agentName }) });
  for (const message of messages) yield* run.message(message.info, message.parts);
  yield* run.session.finish();
  yield* run.skipped.report('note', id);
}

function messagesOf(value: unknown): readonly { readonly info: JsonMembers; readonly parts: readonly unknown[] }[] {
  return listOf(value).map((message) => {
    const { info, parts } = membersOf(message);
    return { info: membersOf(info), parts: listOf(parts) };
  });
}
