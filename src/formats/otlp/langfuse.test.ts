import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { otlpDocumentImporter } from './otlp.ts';

let observations = 0;

function observation(type: string, name: string, second: number, more: object): object {
  observations += 1;
  const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
  return {
    id: `o${observations}`,
    traceId: 'trace-1',
    parentObservationId: 'root',
    type,
    name,
    startTime: time(second),
    endTime: time(second + 1),
    ...more,
  };
}

function runOf(...list: readonly object[]) {
  const root = { ...observation('SPAN', 'workflow', 0, {}), id: 'root', parentObservationId: null };
  const [run, ...others] = importDocument(otlpDocumentImporter, { trace: {}, observations: [root, ...list] }).runs;
  expect(others).toEqual([]);
  return run;
}

const asked = { role: 'user', content: 'What is the weather?' };
const attributes = (values: object) => JSON.stringify({ attributes: values });

test('the original attributes are read from metadata that is text, and messages from where Langfuse moved them', () => {
  const run = runOf(
    observation('GENERATION', 'chat model-x', 1, {
      model: 'model-x',
      input: JSON.stringify([asked]),
      output: JSON.stringify({
        role: 'assistant',
        content: '',
        additional_kwargs: { tool_calls: [{ id: 'c1', function: { name: 'weather', arguments: '{"city":"Rome"}' } }] },
      }),
      usage: { input: 100, output: 10, total: 150 },
      metadata: attributes({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'model-x' }),
    }),
    observation('SPAN', 'running tool: weather', 3, {
      input: '{"city":"Rome"}',
      output: 'sunny',
      metadata: attributes({ 'gen_ai.tool.name': 'weather', 'gen_ai.tool.call.id': 'c1' }),
    }),
    observation('SPAN', 'an event of the agent', 5, { metadata: attributes({ 'openinference.span.kind': 'AGENT' }) }),
  );
  expect(run?.run).toMatchObject({ task: 'What is the weather?', modelId: 'model-x' });
  expect(run?.calls.map((call) => [call.tool_call_id, call.tool_name, call.args])).toEqual([
    ['c1', 'weather', { city: 'Rome' }],
  ]);
  expect(run?.ends.map((end) => end.result)).toEqual(['sunny']);
  const answers = run?.payloads.flatMap((one) => (one.kind === 'message_appended' ? [one.message] : []));
  // Reasoning is in the total only.
  expect(answers?.at(-1)).toMatchObject({ usage: { input_tokens: 100, output_tokens: 50 } });
});

test('calls of one answer in parts run side by side, each with its own result', () => {
  const part = (second: number, city: string) =>
    observation('GENERATION', 'turn', second, {
      input: {},
      output: { role: 'assistant', content: [{ type: 'tool_use', id: city, name: 'weather', input: { city } }] },
    });
  const tool = (second: number, city: string) =>
    observation('TOOL', 'weather', second, { input: { input: { city } }, output: `${city}: sunny` });
  const run = runOf(part(1, 'Rome'), part(2, 'Oslo'), tool(4, 'Rome'), tool(5, 'Oslo'));
  expect(run?.ends.map((end) => [end.tool_call_id, end.result])).toEqual([
    ['Rome', 'Rome: sunny'],
    ['Oslo', 'Oslo: sunny'],
  ]);
});

test('a request in the form of the Gemini API has its first text as the task', () => {
  const run = runOf(
    observation('GENERATION', 'call_llm', 1, {
      input: JSON.stringify({ model: 'g', contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }),
      output: 'Hello.',
    }),
  );
  expect(run?.run.task).toBe('Say hello.');
});

test('the task of a trace is the input of its agent, if earlier prompts of the conversation come first in the request', () => {
  const earlier = { role: 'user', content: 'What is the capital?' };
  const answered = { role: 'assistant', content: 'Rome.' };
  const trace = (input: string) =>
    runOf(
      { ...observation('AGENT', 'turn', 0, { input }), id: 'agent' },
      {
        ...observation('GENERATION', 'chat', 1, { model: 'm', input: [earlier, answered, asked], output: 'Sunny.' }),
        parentObservationId: 'agent',
      },
    );
  expect(trace(asked.content)?.run.task).toBe(asked.content);
  expect(trace('[removed]')?.run.task).toBe(earlier.content);
});

test('of a request that two libraries report, the tokens are those of the inner span, and its model is that of the run', () => {
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'model-x' };
  const run = runOf(
    { ...observation('AGENT', 'agent', 0, { metadata: attributes(agent) }), id: 'agent' },
    {
      ...observation('GENERATION', 'Chat.invoke', 1, {
        model: 'model-x-2026-01-01',
        input: [asked],
        output: 'Sunny.',
        usage: { input: 542, output: 235, total: 777, input_cache_read: 5 },
      }),
      id: 'outer',
      parentObservationId: 'agent',
    },
    {
      ...observation('GENERATION', 'chat', 1, { model: 'model-x', usage: { input: 163, output: 20, total: 183 } }),
      parentObservationId: 'outer',
    },
  );
  expect(run?.run.modelId).toBe('model-x-2026-01-01');
  const answers = run?.payloads.flatMap((one) => (one.kind === 'message_appended' ? [one.message] : []));
  expect(answers?.at(-1)).toMatchObject({ usage: { input_tokens: 163, output_tokens: 20 } });
});

test('the task of a workflow is its own input, if the first request has it, also below a prompt or in a template', () => {
  const taskOfTrace = (input: unknown, request: unknown): unknown => {
    const root = { ...observation('SPAN', 'workflow', 0, {}), id: 'root', parentObservationId: null };
    const generation = observation('GENERATION', 'chat', 1, { model: 'm', input: request, output: 'Sunny.' });
    const { runs } = importDocument(otlpDocumentImporter, { trace: { input }, observations: [root, generation] });
    return runs[0]?.run.task;
  };
  const prompt = { role: 'user', content: 'Be helpful!' };
  expect(taskOfTrace(JSON.stringify(asked.content), `system: Be helpful!\nuser: ${asked.content}`)).toBe(asked.content);
  expect(taskOfTrace({ messages: [{ type: 'human', content: asked.content }] }, [prompt, asked])).toBe(asked.content);
  expect(taskOfTrace({ city: 'Rome' }, [asked])).toBe(asked.content);
});

test('a trace whose only top span has a parent that never arrives ends with that span', () => {
  const top = { ...observation('SPAN', 'workflow', 0, {}), id: 'root', parentObservationId: 'of the web server' };
  const generation = observation('GENERATION', 'chat', 1, { model: 'm', input: [asked], output: 'Sunny.' });
  const { runs } = importDocument(otlpDocumentImporter, { trace: {}, observations: [top, generation] });
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
});

test('the spans that BeeAI makes of the events of a call or a request are one call or request', () => {
  const event = (kind: string, base: string, type: string, second: number, more: object): object => {
    const { metadata = {}, ...others } = more as { readonly metadata?: object };
    return observation(kind, `${base}.${type}-7`, second, {
      ...others,
      metadata: attributes({ target: `${base}.${type}`, name: type, ...metadata }),
    });
  };
  const llm = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm' };
  const tool = { 'openinference.span.kind': 'TOOL' };
  const run = runOf(
    event('GENERATION', 'backend.chat', 'start', 1, { model: 'm', input: [asked], usage: { input: 9 }, metadata: llm }),
    event('GENERATION', 'backend.chat', 'success', 2, { metadata: { ...llm, 'output.value': 'I look.' } }),
    event('GENERATION', 'backend.chat', 'finish', 2, { metadata: llm }),
    event('SPAN', 'tool.weather', 'start', 3, { metadata: { ...tool, 'tool.parameters': '{"city":"Rome"}' } }),
    event('SPAN', 'tool.weather', 'success', 4, { metadata: { ...tool, 'output.value': 'sunny' } }),
    event('SPAN', 'tool.weather', 'finish', 4, { metadata: tool }),
  );
  expect(run?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(1);
  expect(run?.calls.map(({ args }) => args)).toEqual([{ city: 'Rome' }]);
  expect(run?.ends.map(({ result, duration_ms }) => [result, duration_ms])).toEqual([['sunny', 1_000]]);
});
