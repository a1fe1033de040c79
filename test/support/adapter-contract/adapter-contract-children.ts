import { isDerived } from '../../../src/core/records/derived-payload.ts';
import type { TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { RunOptions } from '../../../src/core/run/coxswain.ts';
import { definePrompt } from '../../../src/core/steering/prompt/define-prompt.ts';
import { endingOf, type AdapterContractCase } from './adapter-contract-case.ts';
import { payloadsOf, SCENE_STEERING, type Played } from './adapter-player.ts';
import { feedbackAfterEachCall } from './contract-advice.ts';
import { BELOW, FINAL_TEXT, HANDED_OVER, TREE } from './contract-scenes.ts';

const PROMPT = definePrompt({ ns: 'contract', key: 'tree', feedbackProviders: [feedbackAfterEachCall()] });
const STARTED: RunOptions = {
  prompt: PROMPT,
  conversationId: 'talk',
  deadline: { minutes: 10 },
  budget: { tokens: 5_000, calls: 40 },
};

/** The runs of the main agent and of its subagent. */
interface Tree extends Played {
  readonly child: readonly TrajectoryRecord[];
}

/** Tests that the run of a subagent is a child of its parent's run and has the same deadline, budget and providers. */
export function childrenContract(contract: AdapterContractCase): void {
  const { check, expect, harness, play, playBaseline } = contract;
  const playTree = async (scene = TREE, started = STARTED): Promise<Tree> => {
    const outcome = await play(scene, {}, {}, started);
    expect([...outcome.children.values()].length).toBe(1);
    const [child = []] = outcome.children.values();
    return { ...outcome, child };
  };
  let tree: Promise<Tree> | undefined;
  const playTreeOnce = (): Promise<Tree> => (tree ??= playTree());

  check('a subagent is a child run with the deadline, budget and conversation of its parent', async () => {
    const { child, records, ...played } = await playTreeOnce();
    expect(endingOf(played)).toEqual(endingOf(await playBaseline(TREE)));
    const [above] = payloadsOf(records, 'run_started');
    const [below] = payloadsOf(child, 'run_started');
    expect(child[0]?.parent_run_id).toBe(records[0]?.run_id);
    expect(below?.identity).toMatchObject({ agent_name: BELOW.name, depth: 1, conversation_id: 'talk' });
    expect(below?.steering).toEqual(above?.steering);
    expect(below?.steering).toMatchObject({ budget: { tokens: 5_000, calls: 40 }, prompt_name: PROMPT.name });
    expect(typeof below?.steering?.deadline_at_unix_ms).toBe('number');
    expect([records, child].map((run) => payloadsOf(run, 'tool_ended').length)).toEqual([1, 1]);
  });

  check('the calls of a subagent get advice from the prompt providers of the parent run', async () => {
    const { child, records } = await playTreeOnce();
    const verdicts = [records, child].map((run) =>
      payloadsOf(run, 'feedback_delivered').map((adviceText) => adviceText.delivered),
    );
    expect(verdicts).toEqual([[true], [true]]);
  });

  check('runs of a tree share one budget, and the parent records the usage of the child', async () => {
    const { child, records, usage } = await playTreeOnce();
    const sharedCalls = payloadsOf(child, 'evaluation').map((evaluation) => evaluation.shared_usage?.calls);
    expect(sharedCalls.at(-1)).toBe(1);
    const childUsages = payloadsOf(records, 'child_ended').map((ended) => ended.usage);
    expect(childUsages).toMatchObject([{ calls: 1 }]);
    const { cost_usd: cost, ...counts } = childUsages[0] ?? {};
    const shared = payloadsOf(records, 'evaluation').at(-1)?.shared_usage;
    expect(shared).toMatchObject(counts);
    // Costs of several answers are sums of fractions.
    expect(Math.round((shared?.cost_usd ?? 0) * 1e9)).toBe(Math.round((cost ?? 0) * 1e9));
    const tokens = counts.tokens ?? 0;
    // The subagent gives two responses of 120 tokens each.
    if (harness.hidesTokensBelow === true) expect(tokens).toBeLessThan(240);
    else expect(tokens).toBe(240);
    expect(usage).toMatchObject({ calls: 2, tokens: 240 + tokens });
  });

  check('each run of a tree, replayed alone, derives the same records as live', async () => {
    const { child, records } = await playTreeOnce();
    const { Replay } = await import('../../../src/core/replay/replay.ts');
    for (const run of [records, child]) {
      const replay = new Replay({ steering: SCENE_STEERING, prompts: [PROMPT] });
      const derived = run.map(({ payload }) => payload).filter(isDerived);
      expect(run.flatMap((record) => replay.take(record))).toEqual(derived);
      expect(derived.length).toBeGreaterThan(0);
    }
  });

  check('the parent run can change the deadline and budget of a child run', async () => {
    const deadline = { minutes: 3 };
    const { child, records } = await playTree(TREE, {
      ...STARTED,
      children: (childOptions) =>
        childOptions.agentName === BELOW.name ? { ...childOptions, deadline, budget: { calls: 7 } } : childOptions,
    });
    const startedAtMs = records[0]?.recorded_at_unix_ms ?? 0;
    expect(payloadsOf(child, 'run_started')[0]?.steering).toMatchObject({
      deadline_at_unix_ms: startedAtMs + 180_000,
      budget: { calls: 7 },
    });
  });

  check('after a handoff the next agent keeps the task and the deadline', async () => {
    const { child, finalText, records } = await playTree(HANDED_OVER);
    const [above] = payloadsOf(records, 'run_started');
    const [below] = payloadsOf(child, 'run_started');
    expect(finalText).toBe(FINAL_TEXT);
    expect(below).toMatchObject({ task: HANDED_OVER.prompt, identity: { agent_name: BELOW.name, depth: 1 } });
    expect(below?.steering).toEqual(above?.steering);
  });
}
