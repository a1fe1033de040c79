import { DECISION_POINTS, type DecisionPoint } from '../records/guidance.ts';
import type { GuidanceContext } from '../steering/prompt/guidance-provider.ts';
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
    if (persistence === 'unsupported') unsupported(contract, point);
    else if (timing === 'forces-turn') forcesTurn(contract, point);
    else if (persistence === 'ephemeral') ephemeral(contract, point);
    else persistent(contract, point);
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

function ephemeral({ check, expect, play, without }: AdapterContractCase, point: DecisionPoint): void {
  const { request } = MOMENTS[point];
  const mark = guidanceMark(point);

  const checkScene = async (scene: Scene): Promise<void> => {
    const bare = await without(scene);
    const played = await play(scene, steeringAt(point));
    expect(endingOf(played)).toEqual(endingOf(bare));
    expect(verdictsOf(played)).toEqual([true]);
    expect(timesInRequests(played.requests, mark)).toEqual(bare.requests.map((_, at) => (at === request ? 1 : 0)));
    expect(played.storedHistory?.includes(mark) ?? false).toBe(false);
    expect(changesIn(bare, played, { mark, request })).toEqual([]);
  };

  check(`guidance at ${point} is in one request only, at its end, and leaves no trace`, () => checkScene(SEQUENTIAL));
  check(`guidance at ${point} leaves no trace in a session either`, () => checkScene({ ...SEQUENTIAL, session: true }));
  check(`guidance at ${point} is in one request only when the SDK streams`, () =>
    checkScene({ ...SEQUENTIAL, streaming: true }),
  );
}

/** Returns a message for each difference from the run without coxswain, except for one message at the end of one request. */
function changesIn(
  bare: AdapterOutcome,
  played: Played,
  { mark, request }: { readonly mark: string; readonly request: number },
): readonly string[] {
  return bare.requests.flatMap((before, at) => {
    const after = played.requests[at];
    if (after === undefined) return [`request ${at} is missing`];
    if (at !== request) return before.raw === after.raw ? [] : [`request ${at} is not as without coxswain`];
    const inserted = insertedText(before.raw, after.raw);
    const last = after.messages.at(-1);
    const earlier = JSON.stringify(after.messages.slice(0, -1)) === JSON.stringify(before.messages);
    return [
      ...(inserted?.text.includes(mark) === true ? [] : [`request ${at}: more than the guidance changed`]),
      ...(last?.text.includes(mark) === true && last.toolCallId === undefined
        ? []
        : ['it is not a message at the end']),
      ...(earlier ? [] : ['what comes before it is not as without coxswain']),
    ];
  });
}

function persistent({ harness, check, expect, play, without }: AdapterContractCase, point: DecisionPoint): void {
  const { request } = MOMENTS[point];
  const mark = guidanceMark(point);
  check(`guidance at ${point} stays in the conversation, once, as the table says`, async () => {
    const bare = await without(SEQUENTIAL);
    const played = await play(SEQUENTIAL, steeringAt(point));
    expect(endingOf(played)).toEqual(endingOf(bare));
    expect(verdictsOf(played)).toEqual([true]);
    expect(timesInRequests(played.requests, mark)).toEqual(bare.requests.map((_, at) => (at >= request ? 1 : 0)));
    if (harness.feedbackPlace === 'nearby') {
      const same = bare.requests.map((before, at) => isSameText(before, played.requests[at] ?? before, mark));
      expect(same).toEqual(bare.requests.map(() => true));
    } else {
      expect(changedMessages(bare, played, mark)).toEqual([]);
    }
  });
}

function unsupported({ check, expect, play, without }: AdapterContractCase, point: DecisionPoint): void {
  check(`guidance at ${point} has no channel: it is in no request and recorded as undelivered`, async () => {
    const bare = await without(SEQUENTIAL);
    const played = await play(SEQUENTIAL, { guidance: [guidanceAt(point, () => true)] });
    expect(endingOf(played)).toEqual(endingOf(bare));
    expect(played.requests.map(({ raw }) => raw)).toEqual(bare.requests.map(({ raw }) => raw));
    expect(verdictsOf(played)).toEqual([false]);
  });
}

function forcesTurn({ check, expect, play, without }: AdapterContractCase, point: DecisionPoint): void {
  const mark = guidanceMark(point);
  // The provider may speak three times, so only the adapter limits the number of forced turns.
  const speaking = { ...guidanceAlwaysAt(point, atMoment(point)), maxPerRun: 3 };
  const steering = { guidance: [speaking], noise: { cooldownCalls: 0 } };

  check(`guidance at ${point} would force a turn: by default it does not`, async () => {
    const bare = await without(SEQUENTIAL);
    const played = await play(SEQUENTIAL, steering);
    expect(endingOf(played)).toEqual(endingOf(bare));
    expect(timesInRequests(played.requests, mark)).toEqual(bare.requests.map(() => 0));
    expect(verdictsOf(played)).toEqual([false]);
  });

  check(`guidance at ${point} forces one turn a run when it is turned on`, async () => {
    const bare = await without(SEQUENTIAL);
    const played = await play({ ...SEQUENTIAL, forceTurn: true }, steering);
    expect(timesInRequests(played.requests, mark)).toEqual([...bare.requests.map(() => 0), 1]);
    expect(verdictsOf(played).filter(Boolean)).toEqual([true]);
    expect(played.ended).toBe('normally');
  });
}

/** Tests that several parallel calls are followed by a single decision. */
function afterParallelCalls({ harness, check, expect, play, without }: AdapterContractCase): void {
  const point = 'pre_tool_selection';
  const { persistence } = harness.capabilities[point];
  if (persistence === 'unsupported') return;
  check(`guidance at ${point} after parallel calls is said once`, async () => {
    const bare = await without(PARALLEL);
    const guidance = [guidanceAlwaysAt(point, ({ toolCallCount }) => toolCallCount === 2)];
    const played = await play(PARALLEL, { guidance, noise: { cooldownCalls: 0 } });
    expect(endingOf(played)).toEqual(endingOf(bare));
    const stays = persistence === 'persistent' ? 1 : 0;
    expect(timesInRequests(played.requests, guidanceMark(point))).toEqual([0, 1, stays]);
    expect(verdictsOf(played)).toEqual([true]);
  });
}

/** Tests guidance at several points of the same run: each supported piece arrives exactly once. */
function everywhereAtOnce({ harness, check, expect, play, without }: AdapterContractCase): void {
  check('guidance at every point at once: what is supported arrives, where the table says', async () => {
    const points = DECISION_POINTS.filter((point) => {
      const { persistence, timing } = harness.capabilities[point];
      return persistence !== 'unsupported' && timing !== 'forces-turn';
    });
    const bare = await without(SEQUENTIAL);
    const guidance = points.map((point) => guidanceAt(point, atMoment(point)));
    const played = await play(SEQUENTIAL, { guidance, maxGuidancePerTurn: 9 });
    expect(endingOf(played)).toEqual(endingOf(bare));
    for (const point of points) {
      const { request } = MOMENTS[point];
      const stays = harness.capabilities[point].persistence === 'persistent';
      const times = bare.requests.map((_, at) => (at === request || (stays && at > request) ? 1 : 0));
      expect([point, ...timesInRequests(played.requests, guidanceMark(point))]).toEqual([point, ...times]);
    }
    expect(verdictsOf(played)).toEqual(points.map(() => true));
  });
}

function verdictsOf(played: Played): readonly boolean[] {
  return payloadsOf(played.records, 'guidance_delivered').map(({ guidance }) => guidance.delivered);
}
