import { endingOf, timesInRequests, type AdapterContractCase } from './adapter-contract-case.ts';
import type { AdapterHarness, NeutralMessage, NeutralRequest } from './adapter-harness.ts';
import { changedMessages } from './changed-messages.ts';
import { payloadsOf, type Played, type Scene } from './adapter-player.ts';
import { feedbackAfterEachCall, feedbackMark } from './contract-advice.ts';
import { FAILING, FAILING_BESIDE, PARALLEL, RESULTS, SEQUENTIAL } from './contract-scenes.ts';

const STEERING = { feedback: [feedbackAfterEachCall()] };

/** Tests that feedback appears exactly once, in the next request, at its call, and changes nothing else. */
export function feedbackContract(contract: AdapterContractCase): void {
  const { harness, expect, check, play, playBaseline } = contract;

  const checkPlaces = async (scene: Scene, calls: number): Promise<void> => {
    const baseline = await playBaseline(scene);
    const outcome = await play(scene, STEERING);
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    // Without coxswain the SDK stopped at the failed tool call, so there is no later request for feedback.
    if (baseline.ended !== 'normally') return;
    expect(payloadsOf(outcome.records, 'feedback_produced').length).toBe(calls);
    expect(payloadsOf(outcome.records, 'feedback_delivered').map(({ delivered }) => delivered)).toEqual(
      Array.from({ length: calls }, () => true),
    );
    expect(misplacedFeedback(outcome, harness)).toEqual([]);
  };

  check('the next request has the feedback once, at its call', () => checkPlaces(SEQUENTIAL, 2));
  check('each of several parallel calls gets its own feedback', () => checkPlaces(PARALLEL, 3));
  check('a failed call also gets feedback', () => checkPlaces(FAILING, 2));
  check('a failed and a successful parallel call each get their own feedback', () => checkPlaces(FAILING_BESIDE, 2));
  check('feedback reaches the model when the SDK streams', () => checkPlaces({ ...PARALLEL, streaming: true }, 3));

  check('feedback reaches the model when a session is attached', () =>
    checkPlaces({ ...SEQUENTIAL, session: true }, 2),
  );

  for (const [what, scene] of [
    ['results of every kind', RESULTS],
    ['results of parallel calls', PARALLEL],
    ['the result of a tool that fails', FAILING_BESIDE],
  ] as const) {
    check(`${what}: the result keeps its content and success flag, and only feedback is added`, async () => {
      expect(changedMessages(await playBaseline(scene), await play(scene, STEERING), 'COX-FEEDBACK-')).toEqual([]);
    });
  }

  check('feedback above the length limit is omitted completely and recorded as undelivered', async () => {
    const steering = { feedback: [feedbackAfterEachCall(), feedbackAfterEachCall('Another')] };
    const outcome = await play({ ...SEQUENTIAL, adapter: { maxChars: 60 } }, steering);
    const verdicts = payloadsOf(outcome.records, 'feedback_delivered');
    expect(verdicts.map(({ delivered, provider_name }) => [provider_name, delivered])).toEqual([
      ['Contract', true],
      ['Another', false],
      ['Contract', true],
      ['Another', false],
    ]);
    expect(timesInRequests(outcome.requests, '[Feedback - Another]').every((times) => times === 0)).toBe(true);
  });
}

/** Returns a message for each misplaced piece of feedback. */
function misplacedFeedback(outcome: Played, harness: AdapterHarness): readonly string[] {
  const ended = payloadsOf(outcome.records, 'tool_ended').map((call) => call.tool_call_id);
  const isPersistent = harness.capabilities.post_tool_result.persistence === 'persistent';
  const problems: string[] = [];
  for (const [index, id] of ended.entries()) {
    const mark = feedbackMark(index + 1);
    const next = outcome.requests.findIndex(({ messages }) => messages.some((message) => isResultOf(message, id)));
    const counts = timesInRequests(outcome.requests, mark).join();
    const expected = outcome.requests.map((_, at) => (at === next || (isPersistent && at > next) ? 1 : 0)).join();
    if (counts !== expected) problems.push(`${mark} is so often in each request: ${counts}, not ${expected}`);
    const request = outcome.requests[next];
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
