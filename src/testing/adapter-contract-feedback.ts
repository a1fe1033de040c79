import { endingOf, timesInRequests, type AdapterContractCase } from './adapter-contract-case.ts';
import type { AdapterHarness, NeutralMessage, NeutralRequest } from './adapter-harness.ts';
import { changedMessages } from './changed-messages.ts';
import { payloadsOf, type Played, type Scene } from './adapter-player.ts';
import { feedbackAfterEachCall, feedbackMark } from './contract-advice.ts';
import { FAILING, FAILING_BESIDE, PARALLEL, RESULTS, SEQUENTIAL } from './contract-scenes.ts';

const STEERING = { feedback: [feedbackAfterEachCall()] };

/** Tests that feedback appears exactly once, in the next request, at its call, and changes nothing else. */
export function feedbackContract(contract: AdapterContractCase): void {
  const { harness, expect, check, play, without } = contract;

  const checkPlaces = async (scene: Scene, calls: number): Promise<void> => {
    const bare = await without(scene);
    const played = await play(scene, STEERING);
    expect(endingOf(played)).toEqual(endingOf(bare));
    // Without coxswain the SDK stopped at the failed tool call, so there is no later request for feedback.
    if (bare.ended !== 'normally') return;
    expect(payloadsOf(played.records, 'feedback_produced').length).toBe(calls);
    expect(payloadsOf(played.records, 'feedback_delivered').map(({ delivered }) => delivered)).toEqual(
      Array.from({ length: calls }, () => true),
    );
    expect(misplacedFeedback(played, harness)).toEqual([]);
  };

  check('feedback is in the next request, once, at its call', () => checkPlaces(SEQUENTIAL, 2));
  check('feedback of parallel calls is at the call each belongs to', () => checkPlaces(PARALLEL, 3));
  check('a tool that fails gets feedback as well', () => checkPlaces(FAILING, 2));
  check('a call that fails beside one that works: both get their own', () => checkPlaces(FAILING_BESIDE, 2));
  check('feedback reaches the model when the SDK streams', () => checkPlaces({ ...PARALLEL, streaming: true }, 3));

  check('feedback reaches the model when a session is attached', () =>
    checkPlaces({ ...SEQUENTIAL, session: true }, 2),
  );

  for (const [what, scene] of [
    ['results of every kind', RESULTS],
    ['results of parallel calls', PARALLEL],
    ['the result of a tool that fails', FAILING_BESIDE],
  ] as const) {
    check(`${what}: content and success flag are untouched but for the feedback`, async () => {
      expect(changedMessages(await without(scene), await play(scene, STEERING), 'COX-FEEDBACK-')).toEqual([]);
    });
  }

  check('what does not fit in the limit is left out whole and recorded as undelivered', async () => {
    const steering = { feedback: [feedbackAfterEachCall(), feedbackAfterEachCall('Another')] };
    const played = await play({ ...SEQUENTIAL, adapter: { maxChars: 60 } }, steering);
    const verdicts = payloadsOf(played.records, 'feedback_delivered');
    expect(verdicts.map(({ delivered, provider_name }) => [provider_name, delivered])).toEqual([
      ['Contract', true],
      ['Another', false],
      ['Contract', true],
      ['Another', false],
    ]);
    expect(timesInRequests(played.requests, '[Feedback - Another]').every((times) => times === 0)).toBe(true);
  });
}

/** Returns a message for each misplaced piece of feedback. */
function misplacedFeedback(played: Played, harness: AdapterHarness): readonly string[] {
  const ended = payloadsOf(played.records, 'tool_ended').map((call) => call.tool_call_id);
  const stays = harness.capabilities.post_tool_result.persistence === 'persistent';
  const problems: string[] = [];
  for (const [index, id] of ended.entries()) {
    const mark = feedbackMark(index + 1);
    const next = played.requests.findIndex(({ messages }) => messages.some((message) => isResultOf(message, id)));
    const counts = timesInRequests(played.requests, mark).join();
    const expected = played.requests.map((_, at) => (at === next || (stays && at > next) ? 1 : 0)).join();
    if (counts !== expected) problems.push(`${mark} is so often in each request: ${counts}, not ${expected}`);
    const request = played.requests[next];
    if (request === undefined) problems.push(`the result of ${id} is in no request`);
    else if (!isAtCall(request, { id, mark, harness })) problems.push(`${mark} does not stand at ${id}`);
  }
  return problems;
}

function isAtCall(
  { messages }: NeutralRequest,
  { id, mark, harness }: { readonly id: string; readonly mark: string; readonly harness: AdapterHarness },
): boolean {
  const result = messages.findIndex((message) => isResultOf(message, id));
  const place = messages.findIndex(({ text }) => text.includes(mark));
  if (place === result) return true;
  return harness.feedbackPlace === 'nearby' && place > result && messages[place]?.toolCallId === undefined;
}

function isResultOf({ role, toolCallId }: NeutralMessage, id: string): boolean {
  return role === 'tool' && toolCallId === id;
}
