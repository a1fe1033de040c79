import { canonicalJson } from '../../core/base/canonical-json.ts';
import { isJsonObject, membersOf, type Json } from '../../core/base/json.ts';
import { asJson } from '../parts/source-content.ts';
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
  readonly requestSpan: KnownSpan | undefined;
  readonly messages: readonly NewMessage[];
  /** Results after the last answer in the request. Earlier results are in earlier requests. */
  readonly results: readonly TracedResult[];
  readonly answer: readonly AnswerPart[];
  readonly finishReason: string | undefined;
  readonly declaredCalls: readonly CallShape[];
  readonly toolSpans: KnownSpan[];
}

/**
 * A request has the calls that it issued or that started after it. The next request repeats an answer as the client
 * kept it; its calls are used if the answer's span lacks calls or their ids, as some instrumentations do for streams.
 */
export function tracedTurns(members: readonly KnownSpan[]): readonly Turn[] {
  const turns: Turn[] = [{ ...NO_REQUEST, requestSpan: undefined, toolSpans: [] }];
  const newMessages = new NewMessages();
  let previous: readonly TracedMessage[] | undefined;
  for (const span of members.filter(({ role }) => role !== 'tool')) {
    const request = tracedRequest(span);
    const lastTurn = turns.at(-1);
    const repeatedAnswer = previous === undefined ? [] : repeatedAnswerOf(previous, request);
    if (lastTurn !== undefined && repeatedAnswer.length > 0)
      turns[turns.length - 1] = withRepeatedCalls(lastTurn, repeatedAnswer);
    const outputMessages = span.role === 'model' ? answerOf(fieldMessages(span, 'output', 'assistant')) : [];
    const answer = outputMessages.flatMap(({ parts }) => parts);
    turns.push({
      requestSpan: span,
      messages: newMessages.takeNew(request),
      results: lastResults(request),
      answer,
      finishReason: outputMessages[0]?.finishReason,
      declaredCalls: callsOf(answer),
      toolSpans: [],
    });
    previous = span.role === 'model' ? request : undefined;
  }
  assignTools(turns, members);
  return turns;
}

const NO_REQUEST = { messages: [], results: [], answer: [], finishReason: undefined, declaredCalls: [] } as const;

export function tracedRequest(span: KnownSpan): readonly TracedMessage[] {
  // Instructions are a list of parts. Each part is read as a message.
  return [...readMessages(span.field('system'), 'system'), ...fieldMessages(span, 'input', 'user')];
}

/** Returns the messages of one answer. A message with a finish reason is a choice, and only the first choice is read. */
function answerOf(output: readonly TracedMessage[]): readonly TracedMessage[] {
  return output[0]?.finishReason === undefined ? output : output.slice(0, 1);
}

function callsOf(parts: readonly AnswerPart[]): readonly CallShape[] {
  return parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
}

/** Returns the answer to a request as the next request repeats it. Empty if that request does not continue the first. */
function repeatedAnswerOf(
  request: readonly TracedMessage[],
  nextRequest: readonly TracedMessage[],
): readonly AnswerPart[] {
  const lastIndex = request.length - 1;
  if (
    nextRequest.length <= request.length ||
    JSON.stringify(nextRequest[lastIndex]) !== JSON.stringify(request[lastIndex])
  )
    return [];
  const newMessages = nextRequest.slice(request.length);
  const end = newMessages.findIndex(({ role }) => role !== 'assistant');
  return newMessages.slice(0, end === -1 ? newMessages.length : end).flatMap(({ parts }) => parts);
}

function withRepeatedCalls(turn: Turn, repeatedParts: readonly AnswerPart[]): Turn {
  const repeatedCalls = callsOf(repeatedParts);
  const hasMore = repeatedCalls.length > turn.declaredCalls.length;
  const hasIds =
    repeatedCalls.length === turn.declaredCalls.length &&
    turn.declaredCalls.some(({ sourceId }) => sourceId === undefined);
  if (repeatedCalls.length === 0 || !(hasMore || hasIds)) return turn;
  const ownTexts = turn.answer.filter(({ type }) => type !== 'call');
  const texts = ownTexts.length > 0 ? ownTexts : repeatedParts.filter(({ type }) => type !== 'call');
  return {
    ...turn,
    answer: [...texts, ...repeatedParts.filter(({ type }) => type === 'call')],
    declaredCalls: repeatedCalls,
  };
}

/**
 * The turn that names the call's id, else the last one that began before it. Start times may be whole milliseconds: of
 * the turns that began just then, the first with such a call that has no span yet.
 */
function assignTools(turns: readonly Turn[], members: readonly KnownSpan[]): void {
  const turnsByCall = new Map<string | undefined, number[]>();
  for (const [index, { declaredCalls }] of turns.entries()) {
    for (const { sourceId } of declaredCalls) turnsByCall.set(sourceId, [...(turnsByCall.get(sourceId) ?? []), index]);
  }
  const openCalls = turns.map(({ declaredCalls }) =>
    declaredCalls.map(({ name, args }) => [name, canonicalJson(args)] as const),
  );
  const takeCall = (turn: number, isSame: (call: readonly [string, string]) => boolean): boolean => {
    const index = openCalls[turn]?.findIndex(isSame) ?? -1;
    if (index >= 0) openCalls[turn]?.splice(index, 1);
    return index >= 0;
  };
  const startOf = (turn: number): number => turns[turn]?.requestSpan?.span.startMs ?? Infinity;
  let lastTurn = 0;
  for (const tool of members.filter(({ role }) => role === 'tool')) {
    const { startMs } = tool.span;
    while (startOf(lastTurn + 1) <= startMs) lastTurn += 1;
    let firstTurn = lastTurn;
    while (firstTurn > 0 && startOf(firstTurn) >= Math.floor(startMs)) firstTurn -= 1;
    const callId = callIdOf(tool);
    const turnById = callId === undefined ? undefined : turnsByCall.get(callId)?.findLast((index) => index <= lastTurn);
    // Answers whose requests have no results are one answer in parts, so their calls run side by side.
    if (callId === undefined) while (firstTurn > 1 && isPart(turns[firstTurn])) firstTurn -= 1;
    const name = nameOf(tool);
    const args = argumentForms(tool);
    const nearTurns = Array.from({ length: lastTurn - firstTurn + 1 }, (_, index) => firstTurn + index);
    const turnIndex =
      turnById ??
      nearTurns.find((turn) => takeCall(turn, (call) => call[0] === name && args.includes(call[1]))) ??
      nearTurns.find((turn) => takeCall(turn, (call) => call[0] === name)) ??
      (firstTurn > 0 ? firstTurn : lastTurn);
    turns[turnIndex]?.toolSpans.push(tool);
  }
}

function isPart(turn: Turn | undefined): boolean {
  return turn !== undefined && turn.results.length === 0 && turn.messages.length === 0;
}

/** The arguments, also without the `input` that LangSmith's SDK puts around them. */
function argumentForms(tool: KnownSpan): readonly string[] {
  const args = argumentsOf(tool);
  const { input, ...others } = membersOf(args);
  const isWrapped = isJsonObject(input) && Object.keys(others).length === 0;
  return [canonicalJson(args), ...(isWrapped ? [canonicalJson(asJson(input))] : [])];
}

function lastResults(request: readonly TracedMessage[]): readonly TracedResult[] {
  const lastAnswer = request.findLastIndex(({ role }) => role === 'assistant');
  return request.slice(lastAnswer + 1).flatMap(({ results }) => results);
}

class NewMessages {
  readonly #seenCounts = new Map<string, number>();

  takeNew(request: readonly TracedMessage[]): readonly NewMessage[] {
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
