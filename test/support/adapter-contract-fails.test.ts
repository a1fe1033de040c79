import { expect, test } from 'vitest';

import type { AdviceHandle } from '../../src/core/run/advice-handle.ts';
import type { AdapterOptions } from '../../src/adapters/host/adapter-options.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { AdapterHarness } from './adapter-contract/adapter-harness.ts';
import { adapterContract } from './adapter-contract/adapter-contract.ts';
import type { PlainAgentHooks } from './plain-agent.ts';
import { plainHarness } from './plain-agent-harness.ts';
import { steerPlainAgent, type SteerPlainAgentOptions } from './steer-plain-agent.ts';

/** Registers the contract and runs one of its tests; answers what it failed with. */
async function outcomeOf(harness: AdapterHarness, name: string): Promise<unknown> {
  const bodies = new Map<string, () => Promise<void>>();
  const register = Object.assign((title: string, body: () => Promise<void>) => void bodies.set(title, body), {
    skip: () => undefined,
  });
  adapterContract(harness, { describe: (_name, body) => body(), test: register, expect });
  const body = bodies.get(name);
  if (body === undefined) throw new Error(`no test named ${name}`);
  return await body().then(
    () => 'passed',
    (error: unknown) => error,
  );
}

type Steer = (run: Run, options?: SteerPlainAgentOptions) => PlainAgentHooks;

function changed(change: (right: PlainAgentHooks, run: Run) => PlainAgentHooks): Steer {
  return (run, options) => {
    const right = steerPlainAgent(run, options);
    return { ...right, ...change(right, run) };
  };
}

/** The adapter with a run that behaves differently towards it. */
function withRun(change: (run: Run) => Partial<Record<keyof Run, unknown>>): Steer {
  return (run, options) => {
    const changes: Partial<Record<keyof Run, unknown>> = change(run);
    const other = new Proxy(run, {
      get(target, key) {
        // Keys of a run are what adapters ask for.
        const name = key as keyof Run;
        if (name in changes) return changes[name];
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    return steerPlainAgent(other, options);
  };
}

function mapped(map: (advice: AdviceHandle) => AdviceHandle): Steer {
  return withRun((run) => ({ advise: (...asked: Parameters<Run['advise']>) => run.advise(...asked).map(map) }));
}

function emitting(emit: (run: Run, event: Parameters<Run['emit']>[0]) => unknown): Steer {
  return withRun((run) => ({ emit: (event: Parameters<Run['emit']>[0]) => emit(run, event) }));
}

let stored: string | undefined;
let shared: Run | undefined;

/** Adapter mistakes, each with the test that finds it. */
const MISTAKES: readonly (readonly [mistake: string, finds: string, steer: Steer])[] = [
  [
    'says feedback twice',
    'the next request has the feedback once, at its call',
    changed((right) => ({
      onToolEnd: (call, result, isError) => {
        const text = right.onToolEnd?.(call, result, isError) ?? result;
        return text + text.slice(result.length);
      },
    })),
  ],
  [
    'says feedback one call too late',
    'each of several parallel calls gets its own feedback',
    changed((right) => ({
      onToolEnd: (call, result, isError) => {
        const before = stored ?? '';
        stored = right.onToolEnd?.(call, result, isError).slice(result.length);
        return result + before;
      },
    })),
  ],
  [
    'never says whether feedback arrived',
    'the next request has the feedback once, at its call',
    mapped((advice) => ({ ...advice, delivered: () => undefined })),
  ],
  [
    'is silent about tools that fail',
    'a failed call also gets feedback',
    changed((right) => ({
      onToolEnd: (call, result, isError) => {
        const text = right.onToolEnd?.(call, result, isError) ?? result;
        return isError ? result : text;
      },
    })),
  ],
  [
    'drops feedback where the result is empty, and tidies results up',
    'results of every kind: the result keeps its content and success flag, and only feedback is added',
    changed((right) => ({
      onToolEnd: (call, result, isError) => right.onToolEnd?.(call, result.replaceAll(' ', ''), isError) ?? '',
    })),
  ],
  [
    'knows no limit',
    'feedback above the length limit is omitted completely and recorded as undelivered',
    (run, options) => steerPlainAgent(run, { ...options, maxChars: 9_000 }),
  ],
  [
    'leaves guidance in the history',
    'guidance at pre_render appears only at the end of one request and leaves no trace',
    changed((right) => ({
      onRequest: (messages) => {
        const sent = right.onRequest?.(messages) ?? messages;
        // The agent's own list, whatever its type says.
        if (sent !== messages) (messages as unknown[]).push(sent.at(-1));
        return messages;
      },
    })),
  ],
  [
    'puts guidance first',
    'guidance at pre_tool_selection appears only at the end of one request and leaves no trace',
    changed((right) => ({
      onRequest: (messages) => {
        const sent = right.onRequest?.(messages) ?? messages;
        return sent === messages ? sent : [...sent.slice(-1), ...sent.slice(0, -1)];
      },
    })),
  ],
  [
    'calls delivered what has no channel',
    'guidance at pre_tool_execution has no channel: no request contains it, and it is recorded as undelivered',
    mapped((advice) => ({ ...advice, undelivered: () => advice.delivered('nowhere') })),
  ],
  [
    'forces a turn unasked',
    'guidance at pre_response forces no turn by default',
    (run, options) => steerPlainAgent(run, { ...options, forceTurn: true }),
  ],
  [
    'forces turns without end',
    'guidance at pre_response forces one turn per run if the option is on',
    changed((right, run) => ({
      onFinal: () => right.onFinal?.() ?? run.advise('pre_response').map((advice) => sayIt(advice))[0],
    })),
  ],
  [
    'changes requests to which it has nothing to add',
    'a run without advice sends the same requests, byte for byte',
    changed(() => ({ onRequest: (messages) => [...messages, { role: 'system', content: '' }] })),
  ],
  [
    'does not end the run',
    'the run has the same ending as the agent, and the adapter reports it',
    changed(() => ({ onEnd: () => undefined })),
  ],
  [
    'records results with the feedback in them',
    'every call is recorded with its arguments, its success flag, and its result without feedback',
    emitting((run, event) => {
      if (event.type !== 'tool_execution_end') return run.emit(event);
      return run.emit({ ...event, result: `${String(event.result)} COX-FEEDBACK-1.` });
    }),
  ],
  [
    'records failures as successes',
    'every call is recorded with its arguments, its success flag, and its result without feedback',
    emitting((run, event) => run.emit(event.type === 'tool_execution_end' ? { ...event, isError: false } : event)),
  ],
  [
    'begins a turn with each call',
    'calls from one model answer share a turn, and other calls have separate turns',
    changed((right, run) => ({
      onToolStart: (call, args) => {
        run.emit({ type: 'turn_start' });
        right.onToolStart?.(call, args);
      },
    })),
  ],
  [
    'knows no usage',
    'the model, its messages and its token usage are recorded',
    changed((right) => ({
      onAnswer: (answer) => right.onAnswer?.({ ...answer, inputTokens: 0 }),
    })),
  ],
  [
    'shares state between runs',
    'advice for one of two concurrent runs does not reach the other',
    (run, options) => {
      shared ??= run;
      if (shared.isEnded) shared = run;
      return steerPlainAgent(shared, options);
    },
  ],
  [
    'lets its own faults through',
    'a broken clock does not affect the agent',
    changed(() => ({
      onToolStart: () => {
        throw new Error('a fault of the adapter');
      },
    })),
  ],
  [
    'records two calls under one id',
    'an id that the model gives to two calls has the same effect as without coxswain',
    emitting((run, event) =>
      run.emit('toolCallId' in event ? { ...event, toolCallId: event.toolCallId.replace(/#.*/, '') } : event),
    ),
  ],
  [
    'takes an abort for an error',
    'an abort ends the run as aborted',
    changed((right) => ({ onEnd: (error) => right.onEnd?.(error === undefined ? error : new Error('ended')) })),
  ],
  [
    'takes an error for an end',
    "an error of the model's service ends the run as an error",
    changed((right) => ({ onEnd: () => right.onEnd?.(undefined) })),
  ],
];

function sayIt(advice: AdviceHandle): string {
  advice.delivered('user-message');
  return advice.text;
}

test.each(MISTAKES)('an adapter that %s fails “%s”', async (_mistake, finds, steer) => {
  stored = undefined;
  shared = undefined;
  expect(await outcomeOf(plainHarness(steerPlainAgent), finds)).toBe('passed');
  const failure = await outcomeOf(plainHarness(steer), finds);
  expect(failure).toBeInstanceOf(Error);
  expect(String(failure)).toContain('AssertionError');
});

test('a harness that is never the same twice is found', async () => {
  const right = plainHarness(steerPlainAgent);
  let plays = 0;
  const harness: AdapterHarness = {
    ...right,
    run: async (scene) => ({ ...(await right.run(scene)), storedHistory: String((plays += 1)) }),
  };
  expect(await outcomeOf(harness, 'the harness plays a scene identically each time')).toBeInstanceOf(Error);
});

test('a skip of a test that does not exist is refused, and one that does names its reason', () => {
  const skipped: string[] = [];
  const register = Object.assign(() => undefined, { skip: (name: string) => void skipped.push(name) });
  const tools = { describe: (_name: string, body: () => void) => body(), test: register, expect };
  const right = plainHarness(steerPlainAgent);
  const name = 'an abort ends the run as aborted';
  adapterContract({ ...right, skips: { [name]: 'this SDK knows no abort' } }, tools);
  expect(skipped).toEqual([`${name} (skipped: this SDK knows no abort)`]);
  expect(() => adapterContract({ ...right, skips: { 'no such test': 'whatever' } }, tools)).toThrow('no such test');
});

const options: AdapterOptions = { onError: 'throw' };

test('under onError: throw the fault reaches the host, as one who develops an adapter wants it', async () => {
  const harness = plainHarness((run, given) => {
    const broken = withRun(() => ({
      advise: () => {
        throw new Error('advise is broken');
      },
    }));
    return broken(run, { ...given, ...options });
  });
  const failure = await outcomeOf(harness, 'the next request has the feedback once, at its call');
  expect(String(failure)).toContain('AssertionError');
});
