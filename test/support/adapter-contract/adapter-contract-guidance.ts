import { DECISION_POINTS, type DecisionPoint } from '../../../src/core/records/spoken-advice.ts';
import type { GuidanceContext } from '../../../src/core/steering/prompt/guidance-provider.ts';
import { endingOf, timesInRequests, type AdapterContractCase } from './adapter-contract-case.ts';
import type { AdapterOutcome } from './adapter-harness.ts';
import { changedMessages, isSameText } from './changed-messages.ts';
import { payloadsOf, type Played, type Scene } from './adapter-player.ts';
import { guidanceAlwaysAt, guidanceAt, guidanceMark } from './contract-advice.ts';
import { PARALLEL, SEQUENTIAL } from './contract-scenes.ts';
import { insertedText } from './inserted-text.ts';

/**
 * For each decision point: the number of finished calls at which the guidance is produced, and the index of the request that must
 * contain it.
 */
const MOMENTS: Readonly<Record<DecisionPoint, { readonly calls: number; readonly request: number }>> = {
  pre_render: { calls: 0, request: 0 },
  pre_tool_selection: { calls: 1, request: 1 },
  pre_tool_execution: { calls: 0, request: 1 },
  post_tool_result: { calls: 1, request: 1 },
  // If the point does not force a turn, no further request follows.
  pre_response: { calls: 2, request: 3 },
};

/** Tests that guidance reaches the model exactly as the capability table states. */
export function guidanceContract(contract: AdapterContractCase): void {
  for (const point of DECISION_POINTS) {
    const { persistence, timing } = contract.harness.capabilities[point];
    if (persistence === 'unsupported') checkUnsupported(contract, point);
    else if (timing === 'forces-turn') forcesTurn(contract, point);
    else if (persistence === 'ephemeral') checkEphemeral(contract, point);
    else checkPersistent(contract, point);
  }
  afterParallelCalls(contract);
  everywhereAtOnce(contract);
}

function atMoment(point: DecisionPoint): (context: GuidanceContext) => boolean {
  return ({ toolCallCount }) => toolCallCount === MOMENTS[point].calls;
}

function steeringAt(point: DecisionPoint): { readonly guidance: readonly [ReturnType<typeof guidanceAt>] } {
  return { guidance: [guidanceAt(point, atMoment(point))] };
}

function checkEphemeral({ check, expect, play, playBaseline }: AdapterContractCase, point: DecisionPoint): void {
  const { request } = MOMENTS[point];
  const mark = guidanceMark(point);

  const checkScene = async (scene: Scene): Promise<void> => {
    const baseline = await playBaseline(scene);
    const outcome = await play(scene, steeringAt(point));
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    expect(verdictsOf(outcome)).toEqual([true]);
    expect(timesInRequests(outcome.requests, mark)).toEqual(
      baseline.requests.map((_, index) => (index === request ? 1 : 0)),
    );
    expect(outcome.storedHistory?.includes(mark) ?? false).toBe(false);
    expect(changesIn(baseline, outcome, { mark, request })).toEqual([]);
  };

  check(`guidance at ${point} appears only at the end of one request and leaves no trace`, () =>
    checkScene(SEQUENTIAL),
  );
  check(`guidance at ${point} leaves no trace in a session`, () => checkScene({ ...SEQUENTIAL, session: true }));
  check(`guidance at ${point} appears in only one request when the SDK streams`, () =>
    checkScene({ ...SEQUENTIAL, streaming: true }),
  );
}

/** Returns a message for each difference from the run without coxswain, except for one message at the end of one request. */
function changesIn(
  baseline: AdapterOutcome,
  steered: Played,
  { mark, request }: { readonly mark: string; readonly request: number },
): readonly string[] {
  return baseline.requests.flatMap((bareRequest, index) => {
    const steeredRequest = steered.requests[index];
    if (steeredRequest === undefined) return [`request ${index} is missing`];
    if (index !== request)
      return bareRequest.raw === steeredRequest.raw
        ? []
        : [`request ${index} differs from the request without coxswain`];
    const insertion = insertedText(bareRequest.raw, steeredRequest.raw);
    const last = steeredRequest.messages.at(-1);
    const keepsMessages = JSON.stringify(steeredRequest.messages.slice(0, -1)) === JSON.stringify(bareRequest.messages);
    return [
      ...(insertion?.text.includes(mark) === true ? [] : [`request ${index}: more than the guidance changed`]),
      ...(last?.text.includes(mark) === true && last.toolCallId === undefined
        ? []
        : ['it is not a message at the end']),
      ...(keepsMessages ? [] : ['the messages before the guidance differ from those without coxswain']),
    ];
  });
}

function checkPersistent(
  { harness, check, expect, play, playBaseline }: AdapterContractCase,
  point: DecisionPoint,
): void {
  const { request } = MOMENTS[point];
  const mark = guidanceMark(point);
  check(`guidance at ${point} stays in the conversation once, as the capabilities state`, async () => {
    const baseline = await playBaseline(SEQUENTIAL);
    const outcome = await play(SEQUENTIAL, steeringAt(point));
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    expect(verdictsOf(outcome)).toEqual([true]);
    expect(timesInRequests(outcome.requests, mark)).toEqual(
      baseline.requests.map((_, index) => (index >= request ? 1 : 0)),
    );
    if (harness.feedbackPlace === 'nearby') {
      const keepsText = baseline.requests.map((before, index) =>
        isSameText(before, outcome.requests[index] ?? before, mark),
      );
      expect(keepsText).toEqual(baseline.requests.map(() => true));
    } else {
      expect(changedMessages(baseline, outcome, mark)).toEqual([]);
    }
  });
}

function checkUnsupported({ check, expect, play, playBaseline }: AdapterContractCase, point: DecisionPoint): void {
  check(`guidance at ${point} has no channel: no request contains it, and it is recorded as undelivered`, async () => {
    const baseline = await playBaseline(SEQUENTIAL);
    const outcome = await play(SEQUENTIAL, { guidance: [guidanceAt(point, () => true)] });
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    expect(outcome.requests.map(({ raw }) => raw)).toEqual(baseline.requests.map(({ raw }) => raw));
    expect(verdictsOf(outcome)).toEqual([false]);
  });
}

function forcesTurn({ check, expect, play, playBaseline }: AdapterContractCase, point: DecisionPoint): void {
  const mark = guidanceMark(point);
  // The provider may speak three times, so only the adapter limits the number of forced turns.
  const provider = { ...guidanceAlwaysAt(point, atMoment(point)), maxPerRun: 3 };
  const steering = { guidance: [provider], noise: { cooldownCalls: 0 } };

  check(`guidance at ${point} forces no turn by default`, async () => {
    const baseline = await playBaseline(SEQUENTIAL);
    const outcome = await play(SEQUENTIAL, steering);
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    expect(timesInRequests(outcome.requests, mark)).toEqual(baseline.requests.map(() => 0));
    expect(verdictsOf(outcome)).toEqual([false]);
  });

  check(`guidance at ${point} forces one turn per run if the option is on`, async () => {
    const baseline = await playBaseline(SEQUENTIAL);
    const outcome = await play({ ...SEQUENTIAL, forceTurn: true }, steering);
    expect(timesInRequests(outcome.requests, mark)).toEqual([...baseline.requests.map(() => 0), 1]);
    expect(verdictsOf(outcome).filter(Boolean)).toEqual([true]);
    expect(outcome.ended).toBe('normally');
  });
}

/** Tests that several parallel calls are followed by a single decision. */
function afterParallelCalls({ harness, check, expect, play, playBaseline }: AdapterContractCase): void {
  const point = 'pre_tool_selection';
  const { persistence } = harness.capabilities[point];
  if (persistence === 'unsupported') return;
  check(`guidance at ${point} after parallel calls is delivered once`, async () => {
    const baseline = await playBaseline(PARALLEL);
    const guidance = [guidanceAlwaysAt(point, ({ toolCallCount }) => toolCallCount === 2)];
    const outcome = await play(PARALLEL, { guidance, noise: { cooldownCalls: 0 } });
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    const repeatedMarks = persistence === 'persistent' ? 1 : 0;
    expect(timesInRequests(outcome.requests, guidanceMark(point))).toEqual([0, 1, repeatedMarks]);
    expect(verdictsOf(outcome)).toEqual([true]);
  });
}

/** Tests guidance at several points of the same run: each supported piece arrives exactly once. */
function everywhereAtOnce({ harness, check, expect, play, playBaseline }: AdapterContractCase): void {
  check('guidance at all points at once: the supported points deliver as the capabilities state', async () => {
    const points = DECISION_POINTS.filter((point) => {
      const { persistence, timing } = harness.capabilities[point];
      return persistence !== 'unsupported' && timing !== 'forces-turn';
    });
    const baseline = await playBaseline(SEQUENTIAL);
    const guidance = points.map((point) => guidanceAt(point, atMoment(point)));
    const outcome = await play(SEQUENTIAL, { guidance, maxGuidancePerTurn: 9 });
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    for (const point of points) {
      const { request } = MOMENTS[point];
      const isPersistent = harness.capabilities[point].persistence === 'persistent';
      const times = baseline.requests.map((_, index) =>
        index === request || (isPersistent && index > request) ? 1 : 0,
      );
      expect([point, ...timesInRequests(outcome.requests, guidanceMark(point))]).toEqual([point, ...times]);
    }
    expect(verdictsOf(outcome)).toEqual(points.map(() => true));
  });
}

function verdictsOf(outcome: Played): readonly boolean[] {
  return payloadsOf(outcome.records, 'guidance_delivered').map(({ guidance }) => guidance.delivered);
}
