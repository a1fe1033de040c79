import { canonicalJson } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { readMessages, type TracedMessage, type TracedResult } from './read-messages.ts';
import { argumentsOf, callIdOf, fieldMessages, nameOf, type KnownSpan } from './read-span.ts';

/** A new message in a request. Answers and results are read elsewhere. */
export interface NewMessage {
  readonly role: 'system' | 'user';
  readonly parts: readonly AnswerPart[];
}

/** A request with its answer, or a user message, and the calls until the next one. */
export interface Turn {
  /** Absent for calls before the first request. */
  readonly known: KnownSpan | undefined;
  /** New messages of the request. */
  readonly messages: readonly NewMessage[];
  /** Results after the last answer in the request. Earlier results are in earlier requests. */
  readonly results: readonly TracedResult[];
  readonly answer: readonly AnswerPart[];
  readonly finishReason: string | undefined;
  /** The calls that the answer names. */
  readonly declared: readonly CallShape[];
  readonly tools: KnownSpan[];
}

/**
 * Returns the requests in order. Each has the calls that it issued or that started after it.
 *
 * The next request repeats an answer as the client kept it. Its calls are used if the span of the answer lacks calls or their ids:
 * some instrumentations join the calls of a streamed answer into one, or do not capture them.
 */
export function tracedTurns(members: readonly KnownSpan[]): readonly Turn[] {
  const turns: Turn[] = [{ ...NO_REQUEST, known: undefined, tools: [] }];
  const newMessages = new NewMessages();
  let previous: readonly TracedMessage[] | undefined;
  for (const known of members.filter(({ role }) => role !== 'tool')) {
    const request = tracedRequest(known);
    const last = turns.at(-1);
    const repeatedAnswer = previous === undefined ? [] : keptAnswer(previous, request);
    if (last !== undefined && repeatedAnswer.length > 0) turns[turns.length - 1] = withKept(last, repeatedAnswer);
    const output = known.role === 'model' ? answerOf(fieldMessages(known, 'output', 'assistant')) : [];
    const answer = output.flatMap(({ parts }) => parts);
    turns.push({
      known,
      messages: newMessages.of(request),
      results: lastResults(request),
      answer,
      finishReason: output[0]?.finishReason,
      declared: callsOf(answer),
      tools: [],
    });
    previous = known.role === 'model' ? request : undefined;
  }
  assignTools(turns, members);
  return turns;
}

const NO_REQUEST = { messages: [], results: [], answer: [], finishReason: undefined, declared: [] } as const;

/** Returns the messages of a request: first its instructions, then its history. */
export function tracedRequest(known: KnownSpan): readonly TracedMessage[] {
  // Instructions are a list of parts. Each part is read as a message.
  return [...readMessages(known.field('system'), 'system'), ...fieldMessages(known, 'input', 'user')];
}

/** Returns the messages of one answer. A message with a finish reason is a choice, and only the first choice is read. */
function answerOf(output: readonly TracedMessage[]): readonly TracedMessage[] {
  return output[0]?.finishReason === undefined ? output : output.slice(0, 1);
}

function callsOf(parts: readonly AnswerPart[]): readonly CallShape[] {
  return parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
}

/** Returns the answer to a request as the next request repeats it. Empty if that request does not continue the first. */
function keptAnswer(request: readonly TracedMessage[], next: readonly TracedMessage[]): readonly AnswerPart[] {
  const at = request.length - 1;
  if (next.length <= request.length || JSON.stringify(next[at]) !== JSON.stringify(request[at])) return [];
  const after = next.slice(request.length);
  const end = after.findIndex(({ role }) => role !== 'assistant');
  return after.slice(0, end === -1 ? after.length : end).flatMap(({ parts }) => parts);
}

function withKept(turn: Turn, kept: readonly AnswerPart[]): Turn {
  const declared = callsOf(kept);
  const hasMore = declared.length > turn.declared.length;
  const hasIds =
    declared.length === turn.declared.length && turn.declared.some(({ sourceId }) => sourceId === undefined);
  if (declared.length === 0 || !(hasMore || hasIds)) return turn;
  const own = turn.answer.filter(({ type }) => type !== 'call');
  const texts = own.length > 0 ? own : kept.filter(({ type }) => type !== 'call');
  return { ...turn, answer: [...texts, ...kept.filter(({ type }) => type === 'call')], declared };
}

/**
 * Adds each call's span to the turn that issued it: the turn that names its id, else the last turn that began before it.
 * Start times may be whole milliseconds. Of the turns that began in the same millisecond or just before it, the first one with
 * such a call that has no span yet is used.
 */
function assignTools(turns: readonly Turn[], members: readonly KnownSpan[]): void {
  const turnsByCall = new Map<string | undefined, number[]>();
  for (const [at, { declared }] of turns.entries()) {
    for (const { sourceId } of declared) turnsByCall.set(sourceId, [...(turnsByCall.get(sourceId) ?? []), at]);
  }
  const open = turns.map(({ declared }) => declared.map(({ name, args }) => [name, canonicalJson(args)] as const));
  const take = (at: number, isSame: (call: readonly [string, string]) => boolean): boolean => {
    const index = open[at]?.findIndex(isSame) ?? -1;
    if (index >= 0) open[at]?.splice(index, 1);
    return index >= 0;
  };
  const startOf = (at: number): number => turns[at]?.known?.span.startMs ?? Infinity;
  let last = 0;
  for (const tool of members.filter(({ role }) => role === 'tool')) {
    const { startMs } = tool.span;
    while (startOf(last + 1) <= startMs) last += 1;
    let first = last;
    while (first > 0 && startOf(first) >= Math.floor(startMs)) first -= 1;
    const callId = callIdOf(tool);
    const byId = callId === undefined ? undefined : turnsByCall.get(callId)?.findLast((index) => index <= last);
    const name = nameOf(tool);
    const args = canonicalJson(argumentsOf(tool));
    const near = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const found =
      byId ??
      near.find((at) => take(at, (call) => call[0] === name && call[1] === args)) ??
      near.find((at) => take(at, (call) => call[0] === name)) ??
      (first > 0 ? first : last);
    turns[found]?.tools.push(tool);
  }
}

function lastResults(request: readonly TracedMessage[]): readonly TracedResult[] {
  const lastAnswer = request.findLastIndex(({ role }) => role === 'assistant');
  return request.slice(lastAnswer + 1).flatMap(({ results }) => results);
}

/** Finds the new messages of a request. Each request repeats the history. */
class NewMessages {
  readonly #seenCounts = new Map<string, number>();

  of(request: readonly TracedMessage[]): readonly NewMessage[] {
    const counts = new Map<string, number>();
    return request.flatMap(({ role, parts }) => {
      if ((role !== 'system' && role !== 'user') || parts.length === 0) return [];
      // Parts are decoded JSON.
      const key = canonicalJson([role, parts as unknown as Json]);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= (this.#seenCounts.get(key) ?? 0)) return [];
      this.#seenCounts.set(key, count);
      return [{ role, parts }];
    });
  }
}
