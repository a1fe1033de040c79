import { expect, test } from 'vitest';
import { importLines } from '../../../test/support/import-check.ts';
import { copilotImporter } from './copilot.ts';

const event = (type: string, data: object) => ({ type, data, id: type, timestamp: '2026-02-01T10:00:00.000Z' });
const shutdown = event('session.shutdown', {
  shutdownType: 'routine',
  modelMetrics: { 'model-x': { usage: { inputTokens: 900, outputTokens: 40, cacheReadTokens: 700 } } },
});

function answersOf(lines: readonly object[]) {
  const { runs } = importLines(copilotImporter, lines);
  return runs[0]?.payloads.flatMap((one) =>
    one.kind === 'message_appended' && one.message.role === 'assistant' ? [one.message] : [],
  );
}

test('answers that name no model have that of the session', () => {
  const answers = answersOf([
    event('session.start', { sessionId: 's1', selectedModel: 'model-x' }),
    event('user.message', { content: 'Count the rows.' }),
    event('assistant.message', { messageId: 'm1', content: 'One.' }),
    event('session.model_change', { previousModel: 'model-x', newModel: 'model-y' }),
    event('assistant.message', { messageId: 'm2', content: 'Two.', model: 'model-z' }),
    event('assistant.message', { messageId: 'm3', content: 'Three.' }),
  ]);
  expect(answers?.map((one) => one.model_id)).toEqual(['model-x', 'model-z', 'model-y']);
});

test('an answer whose id was that of an answer before the last prompt is another answer', () => {
  const ask = (content: string) => event('user.message', { content });
  const answer = (content: string) => event('assistant.message', { apiCallId: 'chatcmpl-1', content, outputTokens: 4 });
  const { runs } = importLines(copilotImporter, [ask('One?'), answer('One.'), ask('Two?'), answer('Two.')]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(2);
});

test('the totals of the session are added once, also the output tokens if no answer has them', () => {
  const asked = event('user.message', { content: 'Count the rows.' });
  const answer = (more: object) => event('assistant.message', { messageId: 'm1', content: 'One.', ...more });
  const usage = { input_tokens: 900, cache_read_tokens: 700, cache_write_tokens: 0 };
  expect(answersOf([asked, answer({}), shutdown])?.[0]?.usage).toEqual({ ...usage, output_tokens: 40 });
  expect(answersOf([asked, answer({ outputTokens: 38 }), shutdown])?.[0]?.usage).toEqual({
    ...usage,
    output_tokens: 38,
  });
});

test('cached tokens are counted once also for a model of Anthropic', () => {
  const usage = { inputTokens: 363_143, outputTokens: 2314, cacheReadTokens: 321_789, cacheWriteTokens: 37_826 };
  const asked = event('user.message', { content: 'Count the rows.' });
  const answer = event('assistant.message', { messageId: 'm1', content: 'One.' });
  const metrics = { 'claude-sonnet-4.6': { usage } };
  const [shown] = answersOf([asked, answer, event('session.shutdown', { modelMetrics: metrics })]) ?? [];
  expect(shown?.usage).toMatchObject({ input_tokens: 3528, cache_read_tokens: 321_789, cache_write_tokens: 37_826 });
});

test('an error before the first prompt does not take the place of the task', () => {
  const { runs } = importLines(copilotImporter, [
    event('session.start', { sessionId: 's1', selectedModel: 'model-x' }),
    event('session.error', { errorType: 'query', message: 'No models.', statusCode: 503 }),
    event('user.message', { content: 'Count the rows.' }),
    event('assistant.message', { messageId: 'm1', content: 'One.' }),
  ]);
  expect(runs.map(({ run }) => run.task)).toEqual(['Count the rows.']);
  expect(runs[0]?.payloads.filter(({ kind }) => kind !== 'run_ended').map(({ kind }) => kind)).toEqual([
    'message_appended',
    'message_appended',
    'turn_started',
    'message_appended',
  ]);
});

test('an error after an answer, as of a server of tools, is not its end, and one in place of an answer is', () => {
  const reasonAfter = (...lines: readonly object[]) => {
    const failure = event('session.error', { errorType: 'quota', message: '402 You have no quota', statusCode: 402 });
    const asked = event('user.message', { content: 'hi' });
    const { runs } = importLines(copilotImporter, [asked, ...lines, event('assistant.turn_end', {}), failure]);
    const end = runs[0]?.payloads.find(({ kind }) => kind === 'run_ended');
    return end?.kind === 'run_ended' ? end.outcome : undefined;
  };
  expect(reasonAfter()).toBe('error');
  expect(reasonAfter(event('assistant.message', { messageId: 'm1', content: 'Hi! How can I help?' }))).not.toBe(
    'error',
  );
});

test('an answer whose text is not in the file is an answer if it has tokens that are not reasoning', () => {
  const endOf = (outputTokens: number) => {
    const metrics = { 'model-x': { usage: { inputTokens: 900, outputTokens, reasoningTokens: 30 } } };
    const { runs } = importLines(copilotImporter, [
      event('user.message', { content: 'Say yes.' }),
      event('assistant.message', { messageId: 'm1', content: '', toolRequests: [], outputTokens }),
      event('session.shutdown', { shutdownType: 'routine', modelMetrics: metrics }),
    ]);
    return runs[0]?.payloads.find(({ kind }) => kind === 'run_ended');
  };
  expect(endOf(45)).toMatchObject({ outcome: 'ended', reason: 'answered' });
  expect(endOf(30)).toMatchObject({ outcome: 'ended', reason: 'no_answer' });
});

test('a turn that the user stopped says nothing of the end of the next one', () => {
  const { runs } = importLines(copilotImporter, [
    event('user.message', { content: 'Write it.' }),
    event('assistant.message', { messageId: 'm1', content: '', toolRequests: [{ toolCallId: 'c1', name: 'create' }] }),
    event('tool.execution_start', { toolCallId: 'c1', toolName: 'create', arguments: {} }),
    event('abort', { reason: 'user_initiated' }),
    event('user.message', { content: 'Again.' }),
    event('assistant.message', { messageId: 'm2', content: 'Written.' }),
    shutdown,
  ]);
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
});

test('a session ends with its last turn, not with the program that waited for its user', () => {
  const at = (time: string, one: object) => ({ ...one, timestamp: `2026-02-01T10:00:${time}.000Z` });
  const { runs } = importLines(copilotImporter, [
    at('00', event('user.message', { content: 'Count the rows.' })),
    at('04', event('assistant.message', { messageId: 'm1', content: 'One.' })),
    at('05', event('assistant.turn_end', { turnId: '0' })),
    at('50', shutdown),
  ]);
  expect(runs[0]?.payloads.at(-1)?.kind).toBe('run_ended');
  expect(runs[0]?.atMs.at(-1)).toBe(Date.parse('2026-02-01T10:00:05Z'));
});
