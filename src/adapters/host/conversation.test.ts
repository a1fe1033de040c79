import { expect, test } from 'vitest';
import { recordedRun, type RecordedRun } from '../../../test/support/recorded-run.ts';
import { feedbackAfterEachCall, guidanceAlwaysAt } from '../../../test/support/adapter-contract/contract-advice.ts';
import { Conversation, type ConversationAnswer, type RequestNews } from './conversation.ts';
import type { IssuedCall } from './issued-call.ts';

const NOTHING: RequestNews = { messages: [], results: [] };
const OFTEN = { cooldownCalls: 0 };

function call(name: string, id: string, argsText = '{}'): IssuedCall {
  return { id, name, args: JSON.parse(argsText), argsText };
}

function answerWith(...calls: readonly IssuedCall[]): ConversationAnswer {
  const content = calls.map(({ id, name }) => ({ type: 'tool_call', id, name, args: {} }) as const);
  return { message: { role: 'assistant', content: content.length === 0 ? 'Done.' : content, modelId: 'm' }, calls };
}

function begin(steering?: Parameters<typeof recordedRun>[0]): RecordedRun & { readonly talk: Conversation } {
  const recorded = recordedRun(steering);
  return { ...recorded, talk: new Conversation(recorded.run) };
}

test('an answer is a turn with its message; the model is recorded once', async () => {
  const { talk, recorded } = begin();
  talk.answered(answerWith(call('look', 'a')));
  talk.answered(answerWith());
  expect((await recorded('turn_started')).length).toBe(2);
  expect((await recorded('message_appended')).map(({ message }) => message.role)).toEqual(['assistant', 'assistant']);
  const identities = (await recorded('run_identified')).map(({ model_id }) => model_id);
  expect(identities).toEqual(['m']);
});

test('guidance goes with a request and is delivered when the model accepts it', async () => {
  const { talk, recorded } = begin({ guidance: [guidanceAlwaysAt('pre_tool_selection')] });
  const request = talk.request('key', NOTHING);
  expect(request.text).toBe(
    '[Guidance - Contract pre_tool_selection]\n\nCOX-GUIDANCE-pre_tool_selection. Think of it.',
  );
  expect(await recorded('guidance_delivered')).toEqual([]);
  request.accepted('request');
  request.accepted('request');
  expect(await recorded('guidance_delivered')).toMatchObject([{ guidance: { delivered: true, channel: 'request' } }]);
});

test('the retry of a failed request carries the same text without another evaluation', async () => {
  const { talk, recorded } = begin({ guidance: [guidanceAlwaysAt('pre_tool_selection')], noise: OFTEN });
  const request = talk.request('key', NOTHING);
  request.failed({ outcome: 'error', reason: '500' });
  expect(talk.ending?.outcome).toBe('error');
  expect(talk.request('key', NOTHING)).toBe(request);
  request.accepted('request');
  expect(talk.ending?.outcome).toBeUndefined();
  expect((await recorded('evaluation')).map(({ point }) => point)).toEqual(['pre_render', 'pre_tool_selection']);
});

test('another request after a failed one leaves its guidance undelivered', async () => {
  const { talk, recorded } = begin({ guidance: [guidanceAlwaysAt('pre_tool_selection')] });
  talk.request('one', NOTHING).failed({ outcome: 'error', reason: 'the line is dead' });
  talk.request('other', NOTHING);
  expect(await recorded('guidance_delivered')).toMatchObject([
    { guidance: { delivered: false, reason: 'the line is dead' } },
  ]);
});

test('the prompt is a separate decision point: at the first request, and after a user message', async () => {
  const { talk, recorded } = begin();
  talk.request(1, NOTHING);
  talk.request(2, NOTHING);
  talk.request(3, { messages: [{ role: 'user', content: 'And now?' }], results: [] });
  expect((await recorded('evaluation')).map(({ point }) => point)).toEqual([
    'pre_render',
    'pre_tool_selection',
    'pre_tool_selection',
    'pre_render',
    'pre_tool_selection',
  ]);
});

test('a result that only a request shows is recorded, and its feedback goes with that request', async () => {
  const { talk, recorded } = begin({ feedback: [feedbackAfterEachCall()] });
  talk.request(1, NOTHING).accepted('request');
  talk.answered(answerWith(call('look', 'a')));
  const results = [
    { id: 'a', result: 'quiet' },
    { id: 'unknown', result: 'of another conversation' },
  ];
  const request = talk.request(2, { messages: [], results });
  expect(request.text).toContain('COX-FEEDBACK-1.');
  expect(await recorded('tool_ended')).toMatchObject([{ tool_call_id: 'a', result: 'quiet', is_error: false }]);
  // The next request shows the ended call again, as history.
  talk.request(3, { messages: [], results });
  expect((await recorded('tool_ended')).length).toBe(1);
});

test('a call is found by id, then by tool and arguments, then by tool, else it is new', () => {
  const { talk } = begin();
  talk.answered(answerWith(call('look', 'a', '{"at":1}'), call('look', 'b', '{"at":2}'), call('hear', 'c')));
  expect(talk.callOf(call('anything', 'c')).callId).toBe('c');
  const second = talk.callOf(call('look', '', '{"at":2}'));
  expect(second.callId).toBe('b');
  talk.started(second);
  expect(talk.callOf(call('look', '', '{ "at": 2 }')).callId).toBe('a');
  expect(talk.callOf(call('smell', '')).callId).toBe('smell-call');
});

test('an id that the host reuses is made unique in the run', async () => {
  const { talk, recorded } = begin();
  for (const result of ['one', 'two']) {
    talk.answered(answerWith(call('look', 'call_0')));
    const open = talk.callOf(call('look', 'call_0'));
    talk.started(open);
    talk.ended(open, { result, isError: false });
  }
  expect((await recorded('tool_ended')).map(({ tool_call_id, result }) => [tool_call_id, result])).toEqual([
    ['call_0', 'one'],
    ['call_0#2', 'two'],
  ]);
  const ids = (await recorded('message_appended')).flatMap(({ message }) =>
    typeof message.content === 'string' ? [] : message.content.flatMap((b) => (b.type === 'tool_call' ? b.id : [])),
  );
  expect(ids).toEqual(['call_0', 'call_0#2']);
});

test('advice before a call goes with its result, together with the advice on the result', async () => {
  const guidance = [guidanceAlwaysAt('pre_tool_execution')];
  const { talk, recorded } = begin({ guidance, feedback: [feedbackAfterEachCall()] });
  const open = talk.callOf(call('look', 'a'));
  talk.started(open);
  expect(await recorded('guidance_delivered')).toEqual([]);
  const text = talk.said(talk.ended(open, { result: 'quiet', isError: false }), 'tool-result');
  expect([text?.includes('COX-GUIDANCE-pre_tool_execution.'), text?.includes('COX-FEEDBACK-1.')]).toEqual([true, true]);
  const [evaluation] = await recorded('evaluation');
  expect(evaluation?.pending_calls).toEqual([{ tool_call_id: 'a', tool_name: 'look', args: {} }]);
  expect(await recorded('guidance_delivered')).toMatchObject([{ guidance: { channel: 'tool-result' } }]);
});

test('advice in a result is delivered when the model accepts the next request, however late', async () => {
  const { talk, recorded } = begin({ feedback: [feedbackAfterEachCall()] });
  talk.request(1, NOTHING).accepted('request');
  const open = talk.callOf(call('look', 'a'));
  talk.started(open);
  expect(talk.said(talk.ended(open, { result: 'quiet', isError: false }), 'tool-result')).toContain('COX-FEEDBACK-1.');
  expect(await recorded('feedback_delivered')).toEqual([]);
  talk.request(2, NOTHING).failed({ outcome: 'error', reason: '500' });
  const later = talk.request(3, NOTHING);
  expect(await recorded('feedback_delivered')).toEqual([]);
  later.accepted('request');
  expect(await recorded('feedback_delivered')).toMatchObject([{ delivered: true, channel: 'tool-result' }]);
});

test('advice in a result is undelivered if the run ends before the next request', async () => {
  const { talk, run, recorded } = begin({ feedback: [feedbackAfterEachCall()] });
  talk.request(1, NOTHING).accepted('request');
  const open = talk.callOf(call('look', 'a'));
  talk.started(open);
  talk.said(talk.ended(open, { result: 'quiet', isError: false }), 'tool-result');
  await run.end();
  expect(await recorded('feedback_delivered')).toMatchObject([{ delivered: false, reason: 'the run ended before' }]);
});

test('another conversation with the same history takes over the advice in results', async () => {
  const { talk, run, recorded } = begin({ feedback: [feedbackAfterEachCall()] });
  talk.request(1, NOTHING).accepted('request');
  const open = talk.callOf(call('look', 'a'));
  talk.started(open);
  talk.said(talk.ended(open, { result: 'quiet', isError: false }), 'tool-result');
  const other = new Conversation(run.child());
  other.inherit(talk);
  other.request(1, NOTHING).accepted('request');
  expect(await recorded('feedback_delivered')).toMatchObject([{ delivered: true }]);
});

test('a call that the provider ran itself is complete with the answer', async () => {
  const { talk, recorded } = begin();
  const own = { ...call('search', 'mcp_1'), answer: { result: 'found', isError: false } };
  talk.answered(answerWith(own));
  expect(await recorded('tool_ended')).toMatchObject([{ tool_call_id: 'mcp_1', result: 'found' }]);
  // No call is left to run: the answer is final.
  expect((await recorded('evaluation')).map(({ point }) => point)).toContain('pre_response');
});

test('guidance before the final answer is undelivered, with the adapter’s reason', async () => {
  const { talk, recorded } = begin({ guidance: [guidanceAlwaysAt('pre_response')] });
  talk.answered(answerWith());
  expect(await recorded('guidance_delivered')).toMatchObject([
    { guidance: { delivered: false, reason: 'no request follows a final answer' } },
  ]);
});

test('without visible requests, advice without a channel is undelivered at once', async () => {
  const { talk, recorded } = begin({ feedback: [feedbackAfterEachCall()] });
  const open = talk.callOf(call('look', 'a'));
  talk.started(open);
  talk.later(talk.ended(open, { result: 'quiet', isError: false }));
  expect(await recorded('feedback_delivered')).toMatchObject([{ delivered: false }]);
});

test('at its end the run settles open advice, and its outcome comes from the last error', async () => {
  const guidance = [guidanceAlwaysAt('pre_tool_execution'), guidanceAlwaysAt('pre_tool_selection')];
  const { talk, run, recorded } = begin({ guidance, feedback: [feedbackAfterEachCall()], noise: OFTEN });
  talk.request(1, NOTHING).accepted('request');
  const done = talk.callOf(call('look', 'a'));
  talk.started(done);
  talk.later(talk.ended(done, { result: 'quiet', isError: false }));
  talk.started(talk.callOf(call('look', 'b')));
  talk.request(2, NOTHING).failed({ outcome: 'aborted', reason: 'the user gave up' });
  await run.end();
  const verdicts = [
    ...(await recorded('guidance_delivered')).map(({ guidance: said }) => said),
    ...(await recorded('feedback_delivered')),
  ];
  const produced = [...(await recorded('guidance_produced')), ...(await recorded('feedback_produced'))];
  expect(verdicts.length).toBe(produced.length);
  expect(verdicts.filter(({ delivered }) => delivered).length).toBe(1);
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'aborted' }]);
});

test('advice that does not fit in a request is omitted as a whole and recorded as undelivered', async () => {
  const recorded = recordedRun({ guidance: [guidanceAlwaysAt('pre_tool_selection')] });
  const talk = new Conversation(recorded.run, { maxChars: 10 });
  expect(talk.request(1, NOTHING).text).toBeUndefined();
  expect(await recorded.recorded('guidance_delivered')).toMatchObject([
    { guidance: { delivered: false, reason: 'no room in 10 characters' } },
  ]);
});
