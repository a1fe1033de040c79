import { membersOf, objectsIn, textOrEmpty, isJsonObject, type JsonMembers } from '../../core/base/json.ts';
import { eventStream, type AnswerStream, type EventCollector } from '../host/steered-fetch.ts';

export function answerStream(): AnswerStream {
  const chat = chatCollector();
  const responses = responsesCollector();
  return eventStream({
    take: (event) => (Array.isArray(event['choices']) ? chat.take(event) : responses.take(event)),
    answer: () => responses.answer() ?? chat.answer(),
    isWhole: () => responses.isWhole(),
  });
}

/** A call in a streamed chat message. Its arguments arrive in parts. */
interface CallInPieces {
  id: unknown;
  name: string;
  arguments: string;
}

function chatCollector(): Omit<EventCollector, 'isWhole'> {
  let head: JsonMembers | undefined;
  let usage: unknown;
  let finish_reason: unknown;
  let content = '';
  let refusal = '';
  let reasoning = '';
  const calls = new Map<unknown, CallInPieces>();
  const takeCall = (piece: JsonMembers): void => {
    const call = calls.get(piece['index']) ?? { id: undefined, name: '', arguments: '' };
    const functionFields = membersOf(piece['function']);
    call.id = piece['id'] ?? call.id;
    call.name += textOrEmpty(functionFields['name']);
    call.arguments += textOrEmpty(functionFields['arguments']);
    calls.set(piece['index'], call);
  };
  return {
    take(chunk) {
      head ??= chunk;
      usage = chunk['usage'] ?? usage;
      const choice = firstOf(chunk['choices']);
      finish_reason = choice['finish_reason'] ?? finish_reason;
      const delta = membersOf(choice['delta']);
      const text = textOrEmpty(delta['content']);
      content += text;
      refusal += textOrEmpty(delta['refusal']);
      reasoning += textOrEmpty(delta['reasoning_content']) + textOrEmpty(delta['reasoning']);
      for (const piece of objectsIn(delta['tool_calls'])) takeCall(piece);
      return text === '' ? [] : [text];
    },
    answer() {
      if (head === undefined) return undefined;
      const tool_calls = [...calls.values()].map(({ id, ...named }) => ({ id, type: 'function', function: named }));
      const message = { content, refusal, reasoning, tool_calls };
      return { ...head, choices: [{ message, finish_reason }], usage };
    },
  };
}

const TERMINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function responsesCollector(): EventCollector {
  let last: JsonMembers | undefined;
  let isWhole = false;
  const items: unknown[] = [];
  /** Text of the unfinished item. */
  let words = '';
  return {
    take(event) {
      const { type, response, item, delta } = event;
      if (isJsonObject(response)) last = response;
      if (TERMINAL.has(type)) isWhole = true;
      if (type === 'response.output_item.done') {
        items.push(item);
        words = '';
      }
      if (type !== 'response.output_text.delta' || typeof delta !== 'string') return [];
      words += delta;
      return [delta];
    },
    answer() {
      if (last === undefined) return undefined;
      const { output } = last;
      if (Array.isArray(output) && output.length > 0) return last;
      // If a stream broke off, only its individual items are available.
      const open = words === '' ? [] : [{ type: 'message', content: words }];
      return { ...last, output: [...items, ...open] };
    },
    isWhole: () => isWhole,
  };
}

function firstOf(value: unknown): JsonMembers {
  return objectsIn(value).find((item) => (item['index'] ?? 0) === 0) ?? {};
}
