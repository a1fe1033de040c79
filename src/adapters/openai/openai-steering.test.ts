import { expect, test } from 'vitest';
import { feedbackAfterEachCall } from '../../../test/support/adapter-contract/contract-advice.ts';
import { recordedRun } from '../../../test/support/recorded-run.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCoxswain } from '../../core/run/coxswain.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { openaiSteering, type OpenAiSteering } from './openai-steering.ts';
import type { ChatToolCall } from './sdk-shapes.ts';

const FEEDBACK = { feedback: [feedbackAfterEachCall()] };
const CALL = { type: 'function', id: 'a', function: { name: 'look', arguments: '{"at":1}' } } as const;

function runnable(run: (args: string) => unknown) {
  return { type: 'function', function: { name: 'look', description: '', function: run } } as const;
}

test('a tool that is no function comes back as it is', () => {
  const steering = openaiSteering(recordedRun().run);
  const custom = { type: 'custom', custom: { name: 'x' } };
  const hollow = { type: 'function', function: { name: 'x' } };
  expect([steering.tool(custom) === custom, steering.tool(hollow) === hollow]).toEqual([true, true]);
});

test('what a tool returns is the very same value where there is nothing to say', async () => {
  const { run, recorded } = recordedRun();
  const value = { seen: new Map([[1, 2]]) };
  const tool = openaiSteering(run).tool(runnable(() => value));
  expect(await tool.function.function('{"at":1}')).toBe(value);
  expect(await recorded('tool_started')).toMatchObject([
    { tool_call_id: 'look-call', tool_name: 'look', args: { at: 1 } },
  ]);
});

test('the name of a tool that has none is that of its function, as for the SDK', () => {
  const steering = openaiSteering(recordedRun().run);
  function listen(): string {
    return 'quiet';
  }
  const tool = steering.tool({ type: 'function', function: { function: listen } });
  expect(tool).toMatchObject({ function: { name: 'listen' } });
});

test('without a runner to ask, a call is known by its tool alone', async () => {
  const { run, recorded } = recordedRun(FEEDBACK);
  const tool = openaiSteering(run).tool(runnable(() => 'quiet'));
  expect(await tool.function.function('')).toBe('quiet\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-1.');
  expect(await recorded('tool_ended')).toMatchObject([{ tool_call_id: 'look-call', result: 'quiet', is_error: false }]);
});

test('a result may say itself that the tool failed', async () => {
  const { run, recorded } = recordedRun();
  const steering = openaiSteering(run, { isError: (result, name) => name === 'look' && result === 'ERR' });
  await steering.runToolCall(CALL, () => 'ERR');
  await steering.runToolCall({ ...CALL, id: 'b' }, () => 'fine');
  expect((await recorded('tool_ended')).map(({ is_error }) => is_error)).toEqual([true, false]);
});

test('execute gets the arguments as the model wrote them', async () => {
  const { run } = recordedRun();
  let got = '';
  await openaiSteering(run).runToolCall(CALL, (text) => {
    got = text;
  });
  expect(got).toBe('{"at":1}');
});

test('a fault of ours is nothing to the tool, and under onError throw it is loud', async () => {
  const runner = {
    get messages(): never {
      throw new Error('a runner of tomorrow');
    },
  };
  const { run, faults } = recordedRun();
  // The SDK hands over its runner as the second argument.
  const asSdk = (tool: ReturnType<typeof runnable>) =>
    tool.function.function as (...args: unknown[]) => Promise<unknown>;
  expect(await asSdk(openaiSteering(run).tool(runnable(() => 'quiet')))('', runner)).toBe('quiet');
  expect(faults()).toBe(1);
  const loud = openaiSteering(run, { onError: 'throw' }).tool(runnable(() => 'quiet'));
  await expect(asSdk(loud)('', runner)).rejects.toThrow('a runner of tomorrow');
});

test('a request of an unknown shape goes out as it is, and is an unrecognised event', async () => {
  const { run, recorded } = recordedRun();
  const body = { prompt: 'Once there was' };
  expect(openaiSteering(run).prepareRequest(body)).toBe(body);
  expect(await recorded('unrecognised')).toMatchObject([{ original: { kind: 'openai/request', value: body } }]);
});

test('with a fetch in use, prepareRequest and observe do nothing', async () => {
  const { run, recorded } = recordedRun();
  const steering = openaiSteering(run);
  steering.fetch(() => Promise.reject(new Error('not used')));
  const body = { messages: [] };
  expect(steering.prepareRequest(body)).toBe(body);
  steering.observe({ choices: [{ message: { content: 'Done.' } }] });
  expect([await recorded('evaluation'), await recorded('turn_started')]).toEqual([[], []]);
});

test('after the end of the run nothing is recorded, and tools work on', async () => {
  const { run, recorded } = recordedRun(FEEDBACK);
  const steering = openaiSteering(run);
  await run.end();
  expect(await steering.runToolCall(CALL, () => 'quiet')).toMatchObject({ content: 'quiet' });
  expect(await recorded('tool_started')).toEqual([]);
});

/** Plays a loop of chat completions whose model asks for one call a turn, three times, with the ids `call_1` to `call_3`. */
async function playLoop(steering: OpenAiSteering, name: string): Promise<string> {
  let turns = 0;
  const send = steering.fetch(async () => {
    await nextTurn();
    turns += 1;
    const called = { name: 'look', arguments: JSON.stringify({ at: `${name}${turns}` }) };
    const message =
      turns > 3 ? { content: 'Done.' } : { tool_calls: [{ id: `call_${turns}`, type: 'function', function: called }] };
    return Response.json({ model: 'm', choices: [{ message }] });
  });
  const messages: unknown[] = [{ role: 'user', content: `Task of ${name}` }];
  for (;;) {
    const response = await send('http://model/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ messages }),
    });
    const { choices } = (await response.json()) as { choices: [{ message: { tool_calls?: ChatToolCall[] } }] };
    const { message } = choices[0];
    messages.push(message);
    if (message.tool_calls === undefined) return JSON.stringify(messages);
    for (const call of message.tool_calls) {
      messages.push(
        await steering.runToolCall(call, async (text) => {
          await nextTurn();
          return `seen ${text}`;
        }),
      );
    }
  }
}

test('two loops at once in one run, with the same call ids, each get the advice on their own calls', async () => {
  const store = memoryStore();
  const steeringOptions = { feedback: [feedbackAfterEachCall()], guidance: [] };
  const cox = createCoxswain({ store, newRunId: () => 'child', ...steeringOptions });
  const run = cox.startRun({ runId: 'run' });
  const steering = openaiSteering(run);
  const histories = await Promise.all([playLoop(steering, 'A'), playLoop(steering, 'B')]);
  await run.end();
  for (const [at, name] of ['A', 'B'].entries()) {
    const records = await readAll(store, at === 0 ? 'run' : 'child');
    const results = records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.result] : []));
    expect(results).toEqual([1, 2, 3].map((turn) => `seen {"at":"${name}${turn}"}`));
    const said = records.flatMap(({ payload }) => (payload.kind === 'feedback_produced' ? [payload.text] : []));
    expect(said).toHaveLength(3);
    expect(histories[at]?.match(/COX-FEEDBACK-\d/g)).toEqual(said.map((text) => /COX-FEEDBACK-\d/.exec(text)?.[0]));
    const asked = records.flatMap(({ payload }) =>
      payload.kind === 'message_appended' && payload.message.role === 'user' ? [payload.message.content] : [],
    );
    expect(asked).toEqual([`Task of ${name}`]);
  }
  expect(await store.findRun('child')).toMatchObject({ parentRunId: 'run', outcome: 'ended' });
});

test('an answer whose reader leaves ends the run as aborted', async () => {
  const { run, recorded } = recordedRun();
  const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"It is"}}]}\n\n';
  const send = openaiSteering(run).fetch(() => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode(chunk)) });
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  });
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Go.' }], stream: true });
  const response = await send('http://model/v1/chat/completions', { method: 'POST', body });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'aborted' }]);
});
