import type { JsonObject } from '../core/base/json.ts';
import type { FakeModelAnswer } from './fake-model-server.ts';
import { pieces, type CompleteTurn } from './model-script.ts';

/** Formats a turn as a response of OpenAI's Responses. @param id  unique on this server */
export function responsesAnswer(request: JsonObject, turn: CompleteTurn, id: number): FakeModelAnswer {
  const output = outputOf(turn, id);
  const response = responseOf(request, turn, { id, output });
  if (request['stream'] !== true) return { kind: 'json', body: response };
  return { kind: 'stream', events: eventsOf(response, output) };
}

function outputOf(turn: CompleteTurn, id: number): readonly JsonObject[] {
  const futureFields = turn.fromTheFuture ? { future_field: { since: 'tomorrow' } } : {};
  return [
    ...(turn.fromTheFuture ? [{ type: 'future_item', id: `future_fake_${id}`, status: 'completed' }] : []),
    ...turn.items,
    ...(turn.text === undefined
      ? []
      : [
          {
            id: `msg_fake_${id}`,
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: turn.text, annotations: [], logprobs: [] }],
            ...futureFields,
          },
        ]),
    ...turn.calls.map((call) => ({
      id: `fc_${call.id}`,
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: JSON.stringify(call.args),
      status: 'completed',
      ...futureFields,
    })),
  ];
}

function responseOf(
  request: JsonObject,
  turn: CompleteTurn,
  { id, output }: { readonly id: number; readonly output: readonly JsonObject[] },
): JsonObject {
  const { usage } = turn;
  const isCut = turn.finish === 'length';
  return {
    id: `resp_fake_${id}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    error: null,
    instructions: request['instructions'] ?? null,
    metadata: {},
    model: request['model'] ?? null,
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: request['tools'] ?? [],
    top_p: 1,
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    ...(turn.fromTheFuture ? { future_field: { since: 'tomorrow' } } : {}),
  };
}

function eventsOf(response: JsonObject, output: readonly JsonObject[]): readonly string[] {
  let sequence_number = 0;
  const eventLines = (type: string, data: JsonObject): string => {
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`;
    sequence_number += 1;
    return text;
  };
  const startedResponse = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    eventLines('response.created', { response: startedResponse }),
    eventLines('response.in_progress', { response: startedResponse }),
  ];
  for (const [output_index, item] of output.entries()) {
    const position = { item_id: item['id'] ?? null, output_index };
    events.push(eventLines('response.output_item.added', { output_index, item: emptyItem(item) }));
    if (item['type'] === 'message') events.push(...textEvents(item, position, eventLines));
    if (item['type'] === 'function_call') {
      const whole = textIn(item, 'arguments');
      for (const delta of pieces(whole))
        events.push(eventLines('response.function_call_arguments.delta', { ...position, delta }));
      events.push(eventLines('response.function_call_arguments.done', { ...position, arguments: whole }));
    }
    events.push(eventLines('response.output_item.done', { output_index, item }));
  }
  events.push(eventLines(`response.${textIn(response, 'status')}`, { response }));
  return events;
}

function textEvents(
  item: JsonObject,
  position: JsonObject,
  event: (type: string, data: JsonObject) => string,
): readonly string[] {
  // `outputOf` created the content: one text part.
  const [part = {}] = item['content'] as readonly JsonObject[];
  const text = textIn(part, 'text');
  const place = { ...position, content_index: 0 };
  return [
    event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...pieces(text).map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.content_part.done', { ...place, part }),
  ];
}

function emptyItem(item: JsonObject): JsonObject {
  if (item['type'] === 'message') return { ...item, status: 'in_progress', content: [] };
  return item['type'] === 'function_call' ? { ...item, status: 'in_progress', arguments: '' } : item;
}

function textIn(item: JsonObject, field: string): string {
  const value = item[field];
  return typeof value === 'string' ? value : '';
}
