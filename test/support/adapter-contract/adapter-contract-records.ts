import { type StoredMessage, textOfContent } from '../../../src/core/records/agent-message.ts';
import type { TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import { endingOf, type AdapterContractCase } from './adapter-contract-case.ts';
import { payloadsOf, type Scene } from './adapter-player.ts';
import { feedbackAfterEachCall, guidanceAlwaysAt } from './contract-advice.ts';
import { FAILING_BESIDE, FINAL_TEXT, PARALLEL, RESULTS, SEQUENTIAL } from './contract-scenes.ts';
import { DECISION_POINTS } from '../../../src/core/records/spoken-advice.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../../../src/core/records/words.ts';
import type { SteeringOptions } from '../../../src/core/steering/steering-options.ts';

/** Tests that the records match the actions of the agent, and that coxswain changes nothing if there is no advice. */
export function recordsContract(contract: AdapterContractCase): void {
  const { harness, check, expect, play, playBaseline } = contract;
  const nameOf = harness.toolNameOf ?? ((name: string): string => name);

  check('a run without advice sends the same requests, byte for byte', async () => {
    for (const scene of [PARALLEL, RESULTS]) {
      const [bare, played] = [await playBaseline(scene), await play(scene)];
      expect(endingOf(played)).toEqual(endingOf(bare));
      expect(played.requests.map(({ raw }) => raw)).toEqual(bare.requests.map(({ raw }) => raw));
    }
  });

  const playSilently = async (silence: Pick<SteeringOptions, 'mode' | 'holdout'>, reason: string): Promise<void> => {
    const steering = {
      ...silence,
      feedback: [feedbackAfterEachCall()],
      guidance: DECISION_POINTS.map((point) => guidanceAlwaysAt(point)),
    };
    const baseline = await playBaseline(SEQUENTIAL);
    const outcome = await play({ ...SEQUENTIAL, forceTurn: true }, steering);
    expect(endingOf(outcome)).toEqual(endingOf(baseline));
    expect(outcome.requests.map(({ raw }) => raw)).toEqual(baseline.requests.map(({ raw }) => raw));
    const verdicts = payloadsOf(outcome.records, 'feedback_delivered');
    expect(verdicts.map((verdict) => [verdict.delivered, verdict.reason])).toEqual([
      [false, reason],
      [false, reason],
    ]);
  };

  check('in shadow mode the agent sees no change, and advice is recorded as undelivered', () =>
    playSilently({ mode: 'shadow' }, SHADOW_REASON),
  );

  check('advice withheld by an experiment does not reach the agent, and the record has the reason', () =>
    playSilently({ holdout: 1 }, WITHHELD_REASON),
  );

  check('the run has the same ending as the agent, and the adapter reports it', async () => {
    const outcome = await play(SEQUENTIAL);
    expect([outcome.ended, outcome.finalText, outcome.endedByAdapter]).toEqual(['normally', FINAL_TEXT, true]);
    expect(payloadsOf(outcome.records, 'run_ended').map((ended) => ended.outcome)).toEqual(['ended']);
  });

  check('every call is recorded with its arguments, its success flag, and its result without feedback', async () => {
    const outcome = await play(FAILING_BESIDE, { feedback: [feedbackAfterEachCall()] });
    const startedCalls = payloadsOf(outcome.records, 'tool_started');
    expect(startedCalls.map(({ tool_name, args }) => [tool_name, args])).toEqual([
      [nameOf('look'), { at: 1 }],
      [nameOf('boom'), {}],
    ]);
    expect(startedCalls.map(({ tool_call_id }) => tool_call_id)).toEqual(['call_1_1', 'call_1_2']);
    const ended = payloadsOf(outcome.records, 'tool_ended').toSorted(byCall);
    expect(ended.map(({ tool_call_id, is_error }) => [tool_call_id, is_error])).toEqual([
      ['call_1_1', false],
      ['call_1_2', true],
    ]);
    const results = ended.map(({ result }) => JSON.stringify(result));
    expect(results.map((text) => text.includes('COX-'))).toEqual([false, false]);
    expect([results[0]?.includes('It is quiet'), results[1]?.includes('the kettle exploded')]).toEqual([true, true]);
  });

  check('each request is recorded with its model, tools and sizes', async () => {
    const { records, requests } = await play(SEQUENTIAL);
    const prepared = payloadsOf(records, 'provider_request_prepared');
    // An adapter that does not see requests records none.
    if (harness.seesNoRequests === true) return expect(prepared).toEqual([]);
    expect(prepared.map(({ iteration }) => iteration)).toEqual(requests.map((_, index) => index));
    for (const { tools, tool_count, message_count } of prepared) {
      expect([tools.includes(nameOf('look')), tool_count === tools.length, message_count > 0]).toEqual([
        true,
        true,
        true,
      ]);
    }
    expect(prepared.every(({ model_id: model }) => typeof model === 'string')).toBe(true);
  });

  check('calls from one model answer share a turn, and other calls have separate turns', async () => {
    for (const streaming of [false, true]) {
      const outcome = await play({ ...PARALLEL, streaming }, { feedback: [feedbackAfterEachCall()] });
      expect(callsByTurn(outcome.records)).toEqual([['call_1_1', 'call_1_2'], ['call_2_1']]);
    }
  });

  check('the model, its messages and its token usage are recorded', async () => {
    const scene: Scene = {
      ...SEQUENTIAL,
      script: {
        turns: [
          {
            text: 'First I look.',
            calls: [{ name: 'look', args: { at: 1 } }],
            usage: { inputTokens: 111, outputTokens: 11 },
          },
          { text: FINAL_TEXT, usage: { inputTokens: 222, outputTokens: 22, cacheReadTokens: 99 } },
        ],
      },
    };
    for (const streaming of [false, true]) {
      const outcome = await play({ ...scene, streaming });
      const answers = answersIn(outcome.records);
      const usage = answers.flatMap((answer) => answer.usage ?? []);
      expect(
        usage.map((outputTokens) => [
          outputTokens.input_tokens,
          outputTokens.output_tokens,
          outputTokens.cache_read_tokens ?? 0,
        ]),
      ).toEqual([
        [111, 11, 0],
        [222, 22, 99],
      ]);
      expect(answers.map(({ content }) => textOfContent(content)).filter((text) => text !== '')).toEqual([
        'First I look.',
        FINAL_TEXT,
      ]);
      expect(modelsIn(outcome.records).every((model) => model !== '')).toBe(true);
      expect(modelsIn(outcome.records).length > 0).toBe(true);
    }
  });

  check('streaming produces the same records as not streaming, without records of partial answers', async () => {
    const steering = { feedback: [feedbackAfterEachCall()] };
    const outcome = await play(PARALLEL, steering);
    const streamed = await play({ ...PARALLEL, streaming: true }, steering);
    expect(endingOf(streamed)).toEqual(endingOf(outcome));
    expect(kindsIn(streamed.records)).toEqual(kindsIn(outcome.records));
  });

  check('advice for one of two concurrent runs does not reach the other', async () => {
    const steering = { feedback: [feedbackAfterEachCall()] };
    const [loud, silent, bare] = [await play(SEQUENTIAL, steering), await play(PARALLEL), await playBaseline(PARALLEL)];
    const [one, other] = await Promise.all([play(SEQUENTIAL, steering), play(PARALLEL)]);
    expect(one.requests.map(({ raw }) => raw)).toEqual(loud.requests.map(({ raw }) => raw));
    expect(other.requests.map(({ raw }) => raw)).toEqual(bare.requests.map(({ raw }) => raw));
    expect(callsByTurn(one.records)).toEqual(callsByTurn(loud.records));
    expect(callsByTurn(other.records)).toEqual(callsByTurn(silent.records));
  });
}

function byCall(one: { readonly tool_call_id: string }, other: { readonly tool_call_id: string }): number {
  return one.tool_call_id < other.tool_call_id ? -1 : 1;
}

/** Returns the sorted call ids of each turn that has calls. */
function callsByTurn(records: readonly TrajectoryRecord[]): readonly (readonly string[])[] {
  const turns: string[][] = [[]];
  for (const { payload } of records) {
    if (payload.kind === 'turn_started') turns.push([]);
    if (payload.kind === 'tool_started') turns.at(-1)?.push(payload.tool_call_id);
  }
  return turns.filter((calls) => calls.length > 0).map((calls) => calls.sort());
}

type Answer = Extract<StoredMessage, { readonly role: 'assistant' }>;

/** Returns the recorded responses of the model. */
function answersIn(records: readonly TrajectoryRecord[]): readonly Answer[] {
  const messages = payloadsOf(records, 'message_appended').map(({ message }) => message);
  return messages.filter((message): message is Answer => message.role === 'assistant');
}

function modelsIn(records: readonly TrajectoryRecord[]): readonly string[] {
  const modelIds = payloadsOf(records, 'run_started').flatMap(({ identity }) => identity.model_id ?? []);
  return [...modelIds, ...answersIn(records).flatMap((answer) => answer.model_id ?? [])];
}

/** Returns the number of records of each kind. The order is ignored, because parallel calls may finish in any order. */
function kindsIn(records: readonly TrajectoryRecord[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { payload } of records) counts[payload.kind] = (counts[payload.kind] ?? 0) + 1;
  return counts;
}
