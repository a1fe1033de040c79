import { expect, test } from 'vitest';
import { feedbackAfterEachCall, guidanceAlwaysAt } from '../../../test/support/adapter-contract/contract-advice.ts';
import { recordedRun } from '../../../test/support/recorded-run.ts';
import { coxswainAgents } from './coxswain-agents.ts';
import type { Model, RunnerShape } from './sdk-shapes.ts';

const FEEDBACK = { feedback: [feedbackAfterEachCall()] };

/** A model with a private part, as classes have. */
class Scripted {
  readonly label = 'scripted';
  readonly #answers: readonly unknown[];
  readonly requests: { readonly input: unknown }[] = [];

  constructor(...answers: readonly unknown[]) {
    this.#answers = answers;
  }
  async getResponse(request: { readonly input: unknown }): Promise<unknown> {
    const answer = this.#answers[this.requests.push(request) - 1];
    if (answer instanceof Error) throw answer;
    return answer;
  }
  async *getStreamedResponse(request: { readonly input: unknown }): AsyncGenerator {
    yield { type: 'response_started' };
    yield { type: 'output_text_delta', delta: 'Do' };
    yield { type: 'response_done', response: await this.getResponse(request) };
  }
  count(): number {
    return this.#answers.length;
  }
}

const DONE = { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }] };

/** A runner that tells what a test wants it to tell. */
class Teller implements RunnerShape {
  readonly config: RunnerShape['config'];
  #listeners: readonly (readonly [event: string, listener: (...args: unknown[]) => void])[] = [];

  constructor(model: Model) {
    this.config = { modelProvider: { getModel: () => model } };
  }
  on(event: string, listener: (...args: unknown[]) => void): void {
    this.#listeners = [...this.#listeners, [event, listener]];
  }
  off(event: string, listener: (...args: unknown[]) => void): void {
    this.#listeners = this.#listeners.filter(([name, other]) => name !== event || other !== listener);
  }
  get count(): number {
    return this.#listeners.length;
  }
  emit(event: string, ...args: unknown[]): void {
    for (const [name, listener] of this.#listeners) if (name === event) listener(...args);
  }
}

function look(answer: unknown = 'quiet') {
  return { type: 'function', name: 'look', invoke: async (..._given: unknown[]) => answer } as const;
}

function details(callId: string) {
  return { toolCall: { type: 'function_call', callId, name: 'look', arguments: '{"at":1}' } };
}

test('a steered model is the same model: members, private parts, class', () => {
  const own = new Scripted(DONE);
  const model = coxswainAgents(recordedRun().run).model(own);
  expect([model.label, model.count(), model instanceof Scripted]).toEqual(['scripted', 1, true]);
});

test('a model is steered once, however often it is given', async () => {
  const { run, recorded } = recordedRun();
  const steering = coxswainAgents(run);
  const model = steering.model(steering.model(new Scripted(DONE)));
  await model.getResponse({ input: 'Go.' });
  expect((await recorded('turn_started')).length).toBe(1);
});

test('a model that throws, throws on; the same request again carries the same guidance', async () => {
  const { run, recorded } = recordedRun({ guidance: [guidanceAlwaysAt('pre_tool_selection')] });
  const error = new Error('down');
  const own = new Scripted(error, DONE);
  const model = coxswainAgents(run).model(own);
  const input = [{ type: 'message', role: 'user', content: 'Go.' }];
  await expect(model.getResponse({ input })).rejects.toBe(error);
  expect(await model.getResponse({ input })).toBe(DONE);
  expect(own.requests[1]).toEqual(own.requests[0]);
  expect(input.length).toBe(1);
  expect(await recorded('guidance_delivered')).toMatchObject([{ guidance: { delivered: true } }]);
});

test('a stream passes event by event; the answer is told before its last event is', async () => {
  const { run, recorded } = recordedRun();
  const model = coxswainAgents(run).model(new Scripted(DONE));
  const types: unknown[] = [];
  for await (const event of model.getStreamedResponse({ input: 'Go.' })) {
    types.push((event as { readonly type: string }).type, (await recorded('turn_started')).length);
  }
  expect(types).toEqual(['response_started', 0, 'output_text_delta', 0, 'response_done', 1]);
});

test('requests and answers of an unknown shape pass, and are unrecognised events', async () => {
  const { run, recorded } = recordedRun();
  const odd = { tomorrow: true };
  const model = coxswainAgents(run).model(new Scripted(odd, DONE));
  expect(await model.getResponse({ input: 'Go.' })).toBe(odd);
  expect(await model.getResponse({ input: { odd: true } })).toBe(DONE);
  expect((await recorded('unrecognised')).map(({ original }) => original['kind'])).toEqual([
    'openai-agents/answer',
    'openai-agents/request',
  ]);
});

test('a runner that is used again belongs to the run it was attached to last', async () => {
  const runner = new Teller(new Scripted(DONE, DONE));
  const own = runner.config.modelProvider;
  for (const turn of [1, 2]) {
    const { run, recorded } = recordedRun();
    coxswainAgents(run).attach(runner);
    expect([turn, runner.count]).toEqual([turn, 4]);
    runner.emit('agent_start', {}, { name: 'a' });
    const model = await runner.config.modelProvider.getModel('m');
    await (model as unknown as Scripted).getResponse({ input: 'Go.' });
    expect((await recorded('turn_started')).length).toBe(1);
    await run.end();
    expect([runner.count, runner.config.modelProvider === own]).toEqual([0, true]);
  }
});

test('a wrapped tool reports itself once, also as a copy; its runner’s events add nothing', async () => {
  const { run, recorded } = recordedRun(FEEDBACK);
  const steering = coxswainAgents(run);
  const runner = steering.attach(new Teller(new Scripted()));
  const copy = { ...steering.tool(look()) };
  const agent = { name: 'a' };
  runner.emit('agent_start', {}, agent);
  runner.emit('agent_tool_start', {}, agent, copy, details('c1'));
  const result = await copy.invoke({}, '{"at":1}', details('c1'));
  runner.emit('agent_tool_end', {}, agent, copy, result, details('c1'));
  expect(result).toBe('quiet\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-1.');
  expect(await recorded('tool_started')).toMatchObject([{ tool_call_id: 'c1', tool_name: 'look', args: { at: 1 } }]);
  expect(await recorded('tool_ended')).toMatchObject([{ tool_call_id: 'c1', result: 'quiet' }]);
});

test('a tool that is not wrapped is told by the runner’s events', async () => {
  const { run, recorded } = recordedRun();
  const runner = coxswainAgents(run).attach(new Teller(new Scripted()));
  const failed = 'An error occurred while running the tool. Please try again.';
  runner.emit('agent_tool_start', {}, { name: 'a' }, look(), details('c1'));
  runner.emit('agent_tool_end', {}, { name: 'a' }, look(), failed, details('c1'));
  expect(await recorded('tool_ended')).toMatchObject([{ tool_call_id: 'c1', result: failed, is_error: true }]);
});

test('events of an unknown shape are nothing to the runner', async () => {
  const { run, faults, recorded } = recordedRun();
  const runner = coxswainAgents(run).attach(new Teller(new Scripted()));
  for (const event of ['agent_start', 'agent_handoff', 'agent_tool_start', 'agent_tool_end']) {
    runner.emit(event);
    runner.emit(event, 1, 2, 3, 4, 5);
    runner.emit(event, {}, { name: 7 }, { type: 'function' }, 'x', { toolCall: 'y' });
  }
  expect([faults(), await recorded('tool_started')]).toEqual([0, []]);
});

test('a listener of ours that fails is recorded, and does not reach the runner', () => {
  const { run, faults } = recordedRun();
  const runner = coxswainAgents(run).attach(new Teller(new Scripted()));
  const trap = {
    get name(): never {
      throw new Error('an agent of tomorrow');
    },
  };
  runner.emit('agent_start', {}, trap);
  expect(faults()).toBe(1);
  const loud = coxswainAgents(run, { onError: 'throw' }).attach(new Teller(new Scripted()));
  expect(() => loud.emit('agent_start', {}, trap)).toThrow('an agent of tomorrow');
});

test('a runner of an unknown shape comes back as it is', () => {
  const { run, faults } = recordedRun();
  const odd = {} as RunnerShape;
  expect(coxswainAgents(run).attach(odd)).toBe(odd);
  expect(faults()).toBe(1);
});

test('an agent that comes back after a handover goes on with its own run', async () => {
  const { run, below, recorded } = recordedRun();
  const steering = coxswainAgents(run);
  const runner = steering.attach(new Teller(new Scripted()));
  const model = await runner.config.modelProvider.getModel('m');
  const ask = (): Promise<unknown> => (model as unknown as Scripted).getResponse({ input: 'Go.' });
  for (const name of ['boss', 'helper', 'boss', 'helper']) {
    runner.emit('agent_start', {}, { name });
    await ask();
  }
  const ids = await below();
  expect(ids.length).toBe(1);
  expect((await recorded('evaluation')).filter(({ point }) => point === 'pre_tool_selection').length).toBe(2);
  await run.end('aborted');
  expect(await recorded('run_ended', ids[0])).toMatchObject([{ outcome: 'ended' }]);
});

/** A runner that asks its model twice and runs one tool between, with the ids that servers of local models use. */
class Looping extends Teller {
  readonly run = async (agent: { readonly name: string }, input: unknown): Promise<object> => {
    for (const turn of [1, 2]) {
      this.emit('agent_start', {}, agent);
      const model = await this.config.modelProvider.getModel('m');
      await (model as unknown as Scripted).getResponse({ input: [{ role: 'user', content: `${agent.name} ${turn}` }] });
      this.emit('agent_tool_start', {}, agent, look(), details('call_1'));
      await Promise.resolve();
      this.emit('agent_tool_end', {}, agent, look(), agent.name, details('call_1'));
    }
    if (input === 'fails') throw new Error('down');
    return { state: input, interruptions: input === 'Go.' ? [] : ['a question'] };
  };
}

test('of runs of one runner at the same time, each has its own run; later ones go on with the first', async () => {
  const { run, recorded, below } = recordedRun();
  const steering = coxswainAgents(run);
  const runner = steering.attach(new Looping(new Scripted(...Array.from({ length: 10 }, () => DONE))));
  const [, failure] = await Promise.allSettled([
    runner.run({ name: 'one' }, 'Go.'),
    runner.run({ name: 'two' }, 'fails'),
  ]);
  expect(failure).toMatchObject({ status: 'rejected' });
  await runner.run({ name: 'one' }, 'Go.');
  const [child = '', ...others] = await below();
  expect(others).toEqual([]);
  expect((await recorded('tool_ended')).map(({ result }) => result)).toEqual(['one', 'one', 'one', 'one']);
  expect((await recorded('tool_ended', child)).map(({ result }) => result)).toEqual(['two', 'two']);
  expect(await recorded('run_identified', child)).toMatchObject([{ agent_name: 'two' }, { model_id: 'm' }]);
  expect(await recorded('run_ended', child)).toMatchObject([{ outcome: 'error' }]);
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'ended' }]);
});

test('a run that waits for an approval goes on with its own run', async () => {
  const { run, recorded, below } = recordedRun();
  const runner = coxswainAgents(run).attach(new Looping(new Scripted(...Array.from({ length: 8 }, () => DONE))));
  const states = [{ of: 'one' }, { of: 'two' }];
  await Promise.all(states.map((state) => runner.run({ name: state.of }, state)));
  for (const state of states.toReversed()) await runner.run({ name: state.of }, state);
  const [child = '', ...others] = await below();
  expect(others).toEqual([]);
  expect((await recorded('tool_ended')).map(({ result }) => result)).toEqual(['one', 'one', 'one', 'one']);
  expect((await recorded('tool_ended', child)).map(({ result }) => result)).toEqual(['two', 'two', 'two', 'two']);
});

test.each([
  ['the first', 0],
  ['the second', 1],
])('one runner serves the runs of two requests at the same time; %s ends first', async (_name, first) => {
  const scripted = new Scripted(...Array.from({ length: 6 }, () => DONE));
  const runner = new Looping(scripted);
  const plain = { run: runner.run, provider: runner.config.modelProvider };
  const requests = ['one', 'two'].map((name) => {
    const recording = recordedRun();
    return { name, recording, runner: coxswainAgents(recording.run).attach(runner) };
  });
  await Promise.all(requests.map(({ name, runner: own }) => own.run({ name }, 'Go.')));
  const [early, late] = first === 0 ? requests : requests.toReversed();
  await early?.recording.run.end();
  await late?.runner.run({ name: late.name }, 'Go.');
  await late?.recording.run.end();
  for (const request of requests) {
    const { name, recording } = request;
    const times = request === late ? 4 : 2;
    expect((await recording.recorded('tool_ended')).map(({ result }) => result)).toEqual(Array(times).fill(name));
    expect((await recording.recorded('turn_started')).length).toBe(times);
    expect(await recording.below()).toEqual([]);
  }
  expect({ run: runner.run, provider: runner.config.modelProvider }).toEqual(plain);
  expect(runner.count).toBe(0);
});

test.each([
  [true, 'aborted'],
  [false, 'ended'],
])('a stream whose result says cancelled: %j ends the run as %s', async (cancelled, outcome) => {
  const { run, recorded } = recordedRun();
  class Streaming extends Teller {
    run = async (): Promise<object> => {
      const model = await this.config.modelProvider.getModel('m');
      await (model as unknown as Scripted).getResponse({ input: 'Go.' });
      return { cancelled, completed: Promise.resolve() };
    };
  }
  await coxswainAgents(run)
    .attach(new Streaming(new Scripted(DONE)))
    .run();
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome }]);
});
