import { CoxswainError } from '../../../src/core/base/error.ts';
import type { CoxswainOptions } from '../../../src/core/run/coxswain.ts';
import { DECISION_POINTS } from '../../../src/core/records/spoken-advice.ts';
import { memoryStore } from '../../../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import { endingOf, type AdapterContractCase, type Allowed } from './adapter-contract-case.ts';
import { payloadsOf, type Scene } from './adapter-player.ts';
import { feedbackAfterEachCall, guidanceAlwaysAt } from './contract-advice.ts';
import {
  ABORTED,
  CUT_SHORT,
  FAILING,
  FUTURE,
  PARALLEL,
  REPEATED_ID,
  SEQUENTIAL,
  SERVER_ERROR,
  TRUNCATED,
  UNKNOWN_TOOL,
  WRONG_ARGUMENTS,
} from './contract-scenes.ts';

const SPEAKING: CoxswainOptions = {
  feedback: [feedbackAfterEachCall()],
  guidance: DECISION_POINTS.map((point) => guidanceAlwaysAt(point)),
};

/** Tests that faults of coxswain, its providers or its store do not change how the run of the agent ends. */
export function faultsContract(contract: AdapterContractCase): void {
  const { check, expect, play, playBaseline } = contract;

  const endsTheSame = async (scene: Scene, steering = SPEAKING, allowed: Allowed = {}): Promise<void> => {
    const baseline = await playBaseline(scene);
    expect(endingOf(await play(scene, steering, allowed))).toEqual(endingOf(baseline));
  };

  check('an unavailable store does not affect the agent', async () => {
    for (const streaming of [false, true]) {
      // The end of a run waits for its store. This store never recovers, so the time limit is short.
      const steering = { ...SPEAKING, store: storeThatIsDown(), flushTimeLimitMs: 100 };
      await endsTheSame({ ...PARALLEL, streaming }, steering, { noRecords: true, faults: true });
    }
  });

  check('providers that throw do not affect the agent, and each failure is recorded', async () => {
    const baseline = await playBaseline(SEQUENTIAL);
    const outcome = await play(SEQUENTIAL, throwingProviders(), { faults: true });
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    expect(outcome.requests.map(({ raw }) => raw)).toEqual(baseline.requests.map(({ raw }) => raw));
    const failedProviders = payloadsOf(outcome.records, 'provider_failed').map(({ provider_name }) => provider_name);
    expect(failedProviders.includes('Throwing feedback')).toBe(true);
  });

  check('a broken clock does not affect the agent', async () => {
    // All functions of coxswain fail from this point on, so this tests the error handling of the adapter.
    await endsTheSame(PARALLEL, { ...SPEAKING, clock: clockThatBreaks() }, { noRecords: true, faults: true });
  });

  check('a user hook that throws has the same effect as without coxswain', () =>
    endsTheSame({ ...PARALLEL, userHookThrows: true }, SPEAKING, { openCalls: true }),
  );

  check('a tool that throws has the same effect as without coxswain', () =>
    endsTheSame(FAILING, SPEAKING, { openCalls: true }),
  );

  for (const [what, scene] of [
    ['a call of a tool that there is not', UNKNOWN_TOOL],
    ['a call with arguments that do not fit', WRONG_ARGUMENTS],
    ['an id that the model gives to two calls', REPEATED_ID],
  ] as const) {
    check(`${what} has the same effect as without coxswain`, async () => {
      for (const streaming of [false, true]) await endsTheSame({ ...scene, streaming });
    });
  }

  check('a call of an unknown tool is recorded as failed', async () => {
    const { records } = await play(UNKNOWN_TOOL, SPEAKING, { openCalls: true });
    const ended = payloadsOf(records, 'tool_ended').find(({ tool_call_id }) => tool_call_id === 'call_1_1');
    expect(ended?.is_error).toBe(true);
  });

  check('model answers with unknown fields have the same effect as without coxswain', async () => {
    for (const streaming of [false, true]) await endsTheSame({ ...FUTURE, streaming }, SPEAKING, { openCalls: true });
  });

  check('a connection that breaks during an answer has the same effect as without coxswain', async () => {
    for (const streaming of [false, true]) await endsTheSame({ ...TRUNCATED, streaming }, SPEAKING);
  });

  check('an answer cut at the length limit has the same effect as without coxswain', () => endsTheSame(CUT_SHORT));

  for (const streaming of [false, true]) {
    const suffix = streaming ? ' when the SDK streams' : '';
    check(`an abort ends the run as aborted${suffix}`, async () => {
      const scene = { ...ABORTED, streaming };
      const baseline = await playBaseline(scene);
      const outcome = await play(scene, SPEAKING);
      expect(endingOf(outcome)).toEqual(endingOf(baseline));
      expect(payloadsOf(outcome.records, 'run_ended').map((ended) => ended.outcome)).toEqual(['aborted']);
    });

    check(`a timeout of the user and a stop by coxswain end the run as an abort does${suffix}`, async () => {
      for (const abortReason of ['timeout', 'stop'] as const) {
        const scene = { ...ABORTED, streaming, abortReason };
        const baseline = await playBaseline(scene);
        const outcome = await play(scene, SPEAKING);
        expect(endingOf(outcome)).toEqual(endingOf(baseline));
        expect(payloadsOf(outcome.records, 'run_ended').map((ended) => ended.outcome)).toEqual(['aborted']);
      }
    });

    check(`an error of the model's service ends the run as an error${suffix}`, async () => {
      const scene = { ...SERVER_ERROR, streaming };
      const baseline = await playBaseline(scene);
      const outcome = await play(scene, SPEAKING);
      expect(endingOf(outcome)).toEqual(endingOf(baseline));
      expect(payloadsOf(outcome.records, 'run_ended').map((ended) => ended.outcome)).toEqual(['error']);
    });
  }
}

function storeThatIsDown(): TrajectoryStore {
  const store = memoryStore();
  store.append = () => Promise.reject(new CoxswainError('store-io', 'the disk is gone'));
  return store;
}

function throwingProviders(): CoxswainOptions {
  return {
    feedback: [
      {
        provider: {
          name: 'Throwing feedback',
          shouldRun: () => true,
          provide: () => {
            throw new Error('the provider is broken');
          },
        },
        trigger: { everyNCalls: 1 },
      },
    ],
    guidance: [
      {
        provider: {
          name: 'Throwing guidance',
          category: 'contract',
          classify: () => {
            throw new Error('the classifier is broken');
          },
          provide: () => undefined,
        },
      },
    ],
  };
}

/** Returns a clock that works for five readings and then throws. */
function clockThatBreaks(): NonNullable<CoxswainOptions['clock']> {
  let readings = 0;
  return {
    nowMs() {
      readings += 1;
      if (readings > 5) throw new Error('the clock is broken');
      return 1_700_000_000_000;
    },
  };
}
