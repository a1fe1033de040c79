import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

import { usageOfStored } from '../../adapters/host/content-blocks.ts';
import type { EndedCall, SessionAnswer, SessionPart, TranscriptCall } from '../../adapters/host/host-event.ts';
import { sleepSync } from '../../core/base/clock.ts';
import { isJsonObject, jsonOf, type JsonMembers, present } from '../../core/base/json.ts';
import { LIMIT_USED } from '../../core/records/words.ts';
import { textOfContent, type StoredMessage } from '../../core/records/agent-message.ts';
import type { RunEnding, ToolEnded, TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { isCopiedAnswer } from '../../formats/claude-code/claude-code-entry.ts';
import type { FormatName, ImportItem, LineImporter, SessionDatabase } from '../../formats/importer.ts';

export interface SessionFile {
  readonly path: string;
  readonly importer: LineImporter | SessionDatabase;
  readonly sessionId: string;
  /** The subagent whose answers are read; undefined for those of the session itself. */
  readonly agentId?: string | undefined;
  /** Model of answers for which the file names none. */
  readonly modelId?: string | undefined;
  /** The reader waits until the file has an entry from this time, for at most 500 ms. Unix milliseconds; default: it does not wait. */
  readonly writtenUntilMs?: number | undefined;
  /** True if the events name tools otherwise than the file, and have no call ids: calls are then not read. */
  readonly hasOtherCalls?: boolean;
}

/** Tried one after the other until a known answer is found. A longer file without a known answer in it loses the answers before. */
const READ_BYTES = [24 * 1024, 256 * 1024, 2 * 1024 * 1024, 16 * 1024 * 1024];
/** Number of bytes at the start of a file in which its first line is read. It says whether the session is a fork. */
const HEAD_BYTES = 64 * 1024;
/** Maximum delay between an event and its entry in the file. The longest measured delay is 100 ms, in Copilot CLI. */
const LAG_LIMIT_MS = 500;
/**
 * Claude Code writes lines every 100 ms, so an answer comes up to 100 ms after it ended, and the results of its calls up to 98 ms after
 * the start of the hook (138 ms with eight busy processes on two cores), which needs about 60 ms to get here.
 */
const RESULT_LAG_LIMIT_MS = 100;
const MAX_RESULTS_BYTES = 2 * 1024 * 1024;
const POLL_MS = 5;

/** An incomplete last line waits for the next call. No answer before one that `isKnown` is needed; the first may be incomplete. */
export function readSession(file: SessionFile, isKnown: (answer: SessionAnswer) => boolean): SessionPart {
  waitFor(file);
  const { importer, path, sessionId } = file;
  let part: SessionPart = { answers: [] };
  let isCut = false;
  for (let step = 0; step < (importer.shape === 'database' ? importer.steps : READ_BYTES.length); step += 1) {
    const { isWhole, items } =
      importer.shape === 'database'
        ? (readOwnFile(path, () => importer.read(path, sessionId, step)) ?? { items: [], isWhole: true })
        : itemsIn(tailOf(path, READ_BYTES[step] ?? 0), { importer, path });
    part = partIn(items, file);
    isCut = !isWhole;
    if (isWhole || part.answers.some(isKnown)) break;
  }
  if (!isCut || part.costUsd === undefined || !headEntries(path).some(isCopiedAnswer)) return part;
  // The total of a fork includes that of the session from which it was forked, and its end alone does not say that it is one.
  const { costUsd: _, ...own } = part;
  return own;
}

export function lastEntries(path: string): readonly JsonMembers[] {
  return entriesIn(tailOf(path, READ_BYTES[1] ?? 0).lines);
}

function entriesIn(lines: readonly string[]): readonly JsonMembers[] {
  return lines.map((line) => jsonOf(line)).filter((entry) => isJsonObject(entry));
}

export function headEntries(path: string): readonly JsonMembers[] {
  const text = readOwnFile(path, (file) => textAt(file, 0, HEAD_BYTES)) ?? '';
  return entriesIn(text.split('\n'));
}

function waitFor({ path, writtenUntilMs }: SessionFile): void {
  if (writtenUntilMs === undefined) return;
  const isWritten = (): boolean => {
    const entries = lastEntries(path);
    return entries.length === 0 || entries.some(({ timestamp }) => Date.parse(String(timestamp)) >= writtenUntilMs);
  };
  waitUntil(isWritten, LAG_LIMIT_MS, sleepSync);
}

/** Waits at most 100 ms for texts at the end of a file, if it exists. A caller holds no transaction: other hooks would wait. */
export function waitForTexts(path: string, texts: readonly string[], sleep: (ms: number) => void = sleepSync): void {
  const hasTexts = (file: number, size: number): boolean => {
    const bytes = bytesAt(file, Math.max(0, size - MAX_RESULTS_BYTES), Math.min(size, MAX_RESULTS_BYTES));
    return texts.every((text) => bytes.includes(text));
  };
  waitUntil(() => readOwnFile(path, hasTexts) !== false, RESULT_LAG_LIMIT_MS, sleep);
}

function waitUntil(isWritten: () => boolean, limitMs: number, sleep: (ms: number) => void): void {
  for (let waitedMs = 0; waitedMs < limitMs && !isWritten(); waitedMs += POLL_MS) sleep(POLL_MS);
}

function itemsIn(
  { isWhole, lines }: Tail,
  { importer, path }: { readonly importer: LineImporter; readonly path: string },
): { readonly items: readonly ImportItem[]; readonly isWhole: boolean } {
  const session = importer.open({ path, name: basename(path) });
  const items = lines.flatMap((line, index) => {
    const entry = jsonOf(line);
    return isJsonObject(entry) ? [...session.line(entry, index + 1, line)] : [];
  });
  return { items: [...items, ...session.end()], isWhole };
}

function partIn(items: Iterable<ImportItem>, { agentId, hasOtherCalls, importer, modelId }: SessionFile): SessionPart {
  // A file may contain other runs too.
  const isRun = (runKey: string): boolean => (agentId === undefined ? !runKey.includes('/') : runKey.endsWith(agentId));
  const answers = new Answers(importer.format);
  for (const item of items) if (item.type === 'record' && isRun(item.runKey)) answers.take(item.payload, item.atMs);
  const { costUsd } = answers;
  const hasEnded = WITH_END.has(importer.format) && answers.ending !== undefined ? (true as const) : undefined;
  const ending = answers.ending ?? answers.supposedEnding;
  const named = (answer: SessionAnswer): SessionAnswer => {
    const calls = hasOtherCalls === true ? [] : answer.calls;
    return { ...answer, calls, ...present({ modelId: answer.modelId ?? modelId }) };
  };
  return { answers: answers.list.map(named), ...present({ costUsd, ending, hasEnded }) };
}

/** Programs whose file says that the program has ended. */
const WITH_END: ReadonlySet<FormatName> = new Set(['copilot']);

/** Programs without an event at a compaction. */
const WITHOUT_COMPACTIONS: ReadonlySet<FormatName> = new Set(['copilot', 'gemini']);

class Answers {
  readonly list: SessionAnswer[] = [];
  /** True if the host writes the tokens of an answer after its last part, and no stop reason: all but Claude Code. */
  readonly #endsWithUsage: boolean;
  costUsd: number | undefined;
  ending: RunEnding | undefined;
  /** Trigger of a compaction after the last answer. */
  #compaction: string | undefined;
  readonly #hasCompactions: boolean;

  constructor(format: FormatName) {
    this.#hasCompactions = WITHOUT_COMPACTIONS.has(format);
    this.#endsWithUsage = format !== 'claude-code';
  }

  /** Whether the model has still to answer. Undefined before the first message. */
  #isAtWork: boolean | undefined;

  /** How the session ends if nothing follows, in a file that does not say it. Claude Code writes an interruption by a person. */
  get supposedEnding(): RunEnding | undefined {
    if (this.#isAtWork === undefined) return undefined;
    if (!this.#isAtWork) return { outcome: 'ended', reason: 'answered' };
    return { outcome: 'aborted', reason: this.#endsWithUsage ? 'interrupted' : 'killed' };
  }

  take(payload: TrajectoryPayload, atMs = 0): void {
    switch (payload.kind) {
      case 'turn_started':
        this.list.push({ atMs, text: '', calls: [], isWhole: false, ...present({ compaction: this.#compaction }) });
        this.#compaction = undefined;
        return;
      case 'compaction':
        if (this.#hasCompactions) this.#compaction = payload.trigger;
        return;
      case 'session_event':
        if (payload.event_type === LIMIT_USED) this.#replaceLast((answer) => ({ ...answer, limit: payload.data }));
        return;
      case 'message_appended':
        if (payload.message.role === 'assistant') this.#hear(payload.message, atMs);
        else this.#replaceLast((answer) => ({ ...answer, isWhole: true }));
        if (payload.message.role !== 'system') this.#isAtWork = payload.message.role === 'user';
        return;
      case 'tool_started': {
        this.#isAtWork = true;
        const { args, tool_call_id: id, tool_name: toolName } = payload;
        const call: TranscriptCall = { id, name: toolName, args, atMs };
        this.#replaceLast((answer) => ({ ...answer, calls: [...answer.calls, call] }));
        return;
      }
      case 'tool_ended':
        if (payload.result_missing !== true) this.#end(payload, atMs);
        return;
      case 'run_ended': {
        const { labels, outcome, reason } = payload;
        this.costUsd = payload.usage?.cost_usd;
        this.ending = { outcome, ...present({ labels, reason }) };
        return;
      }
      default:
    }
  }

  #hear(message: Extract<StoredMessage, { readonly role: 'assistant' }>, atMs: number): void {
    const { content, error_message: error, model_id: modelId, stop_reason: stopReason, usage: stored } = message;
    const usage = stored && usageOfStored(stored);
    if (error !== undefined) {
      // The host wrote it in place of an answer.
      const failed = { atMs, text: '', calls: [], isWhole: true, hasFailed: true } as const;
      if (usage !== undefined) this.list.push({ ...failed, usage, ...present({ modelId }) });
      return;
    }
    this.#replaceLast((answer) => ({
      ...answer,
      ...present({ modelId, usage }),
      atMs,
      text: [answer.text, textOfContent(content)].filter((part) => part !== '').join('\n'),
      isWhole: stopReason !== undefined || (this.#endsWithUsage && usage !== undefined),
    }));
  }

  #end(payload: ToolEnded, endedAtMs: number): void {
    const { duration_ms: durationMs, is_error: isError, outcome, result, tool_call_id: id } = payload;
    const index = this.list.findLastIndex(({ calls }) => calls.some((call) => call.id === id));
    const answer = this.list[index];
    if (answer === undefined) return;
    const calls = answer.calls.map((call) => {
      if (call.id !== id) return call;
      const ended: EndedCall = { ...call, result, isError, ...present({ durationMs, outcome }), endedAtMs };
      return { ...call, ended };
    });
    this.list[index] = { ...answer, calls };
  }

  #replaceLast(change: (answer: SessionAnswer) => SessionAnswer): void {
    const last = this.list.pop();
    if (last !== undefined) this.list.push(change(last));
  }
}

interface Tail {
  /** The first line of the file, and the whole lines in its last bytes. */
  readonly lines: readonly string[];
  readonly isWhole: boolean;
}

function tailOf(path: string, bytes: number): Tail {
  const tail = readOwnFile(path, (file, size): Tail => {
    const start = Math.max(0, size - bytes);
    const lines = textAt(file, start, size - start).split('\n');
    if (start === 0) return { lines, isWhole: true };
    const [head = ''] = textAt(file, 0, HEAD_BYTES).split('\n', 1);
    return { lines: [head, ...lines.slice(1)], isWhole: false };
  });
  return tail ?? { lines: [], isWhole: true };
}

/** Reads a regular file of this user. Never waits for a pipe. Returns undefined if the file is missing or unusable. */
function readOwnFile<Result>(path: string, read: (file: number, size: number) => Result): Result | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
    const facts = fstatSync(file);
    const isOwn = process.getuid === undefined || facts.uid === process.getuid();
    return facts.isFile() && isOwn ? read(file, facts.size) : undefined;
  } catch {
    // The event is then recorded without data of the session file.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function textAt(file: number, start: number, bytes: number): string {
  return bytesAt(file, start, bytes).toString('utf8');
}

function bytesAt(file: number, start: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, start));
}
