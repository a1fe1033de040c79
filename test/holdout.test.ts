import { expect, test } from 'vitest';

import { EffectRowFold, type EffectRow } from '../src/lab/effect-row.ts';
import { viewOf } from '../src/core/facts/run-view.ts';
import { resolveConfig } from '../src/hosts/config/resolve-config.ts';
import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { holdoutArmOf } from '../src/core/steering/holdout.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { RunStepper } from '../src/core/run/run-step.ts';
import type { Run } from '../src/core/run/run.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

// Without limits over the run, so that a short one hears several pieces.
const steering = { ...standardSteering(), noise: {} };
const BY_RUN = { share: 0.5, unit: 'run' } as const;

function setUp(options: CoxswainOptions): { readonly cox: Coxswain; readonly store: TrajectoryStore } {
  const store = memoryStore();
  return { store, cox: createCoxswain({ ...steering, clock: createFakeClock(), store, ...options }) };
}

/** Twelve equal calls, asked for advice after each. @returns the texts */
function getStuck(run: Run): readonly string[] {
  const texts: string[] = [];
  for (let call = 0; call < 12; call += 1) {
    const toolCallId = `call-${call}`;
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: 'make' } });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: 'Error: no rule', isError: true });
    const text = run.feedback();
    if (text !== undefined) texts.push(text);
    run.advise('pre_tool_selection').forEach((advice) => {
      texts.push(advice.text);
      advice.delivered('prompt');
    });
  }
  return texts;
}

async function recordsOf(run: Run, store: TrajectoryStore): Promise<readonly TrajectoryRecord[]> {
  await run.flush();
  return readAll(store, run.id);
}

/** Payloads that follow from what the agent did, without what tells two runs apart. */
function derivedOf(records: readonly TrajectoryRecord[]): readonly TrajectoryPayload[] {
  return records.map(({ payload }) => payload).filter(isDerived);
}

const seqless = (payloads: readonly TrajectoryPayload[]): string =>
  JSON.stringify(payloads, (key, value: unknown) => (key === 'cause_seq' || key === 'advice_id' ? undefined : value));

test('a withheld run works out and records what a steered one does, is told nothing, and says why', async () => {
  const { cox, store } = setUp({ holdout: 1 });
  const run = cox.startRun({ runId: 'withheld' });
  expect(getStuck(run)).toEqual([]);
  const records = await recordsOf(run, store);
  expect(records[0]?.payload).toMatchObject({
    steering: { mode: 'steer', holdout: { share: 1, seed: '', within_calls: 10 } },
  });

  const steered = setUp({});
  const other = steered.cox.startRun({ runId: 'steered' });
  expect(getStuck(other).length).toBeGreaterThan(1);
  const others = await recordsOf(other, steered.store);
  expect(others[0]?.payload).not.toHaveProperty('steering.holdout');
  // Cadence continues as if it had been said, so the arms differ only in the agent's text.
  expect(seqless(derivedOf(records))).toBe(seqless(derivedOf(others)));
  expect(viewOf(records).advice.map(({ delivery, reason }) => [delivery, reason])).toEqual(
    viewOf(others).advice.map(() => ['withheld', 'withheld by experiment']),
  );
});

test('a run of either arm replays to its derived records, with the steering and without the experiment', async () => {
  const { cox, store } = setUp({ holdout: BY_RUN });
  const arms = new Set<boolean | undefined>();
  for (let number = 0; number < 8; number += 1) {
    const run = cox.startRun({ runId: `run-${number}` });
    const texts = getStuck(run);
    expect(texts.length > 0).toBe(run.holdout?.withheld === false);
    arms.add(run.holdout?.withheld);
    const records = await recordsOf(run, store);
    const replay = new Replay({ steering });
    expect(records.flatMap((record) => replay.take(record))).toEqual(derivedOf(records));
  }
  expect(arms).toEqual(new Set([true, false]));
});

test('advice is drawn by episode: what speaks of one is all given or all withheld, as a replay of the records draws it', async () => {
  const { cox, store } = setUp({ holdout: 0.5 });
  const arms = new Set<boolean>();
  const rowOf = (records: readonly TrajectoryRecord[]): EffectRow => {
    const fold = new EffectRowFold(records[0]?.run_id ?? '');
    for (const record of records) fold.fold(record);
    return fold.row();
  };
  for (let number = 0; number < 8; number += 1) {
    const run = cox.startRun({ runId: `run-${number}` });
    getStuck(run);
    const records = await recordsOf(run, store);
    const { units } = rowOf(records);
    expect(units).toMatchObject([{ stuck: true }]);
    const withheld = units[0]?.withheld;
    if (withheld !== undefined) arms.add(withheld);
    const fromThen = viewOf(records).advice.slice(
      viewOf(records).advice.findIndex(({ adviceId }) => adviceId === units[0]?.advice.adviceId),
    );
    expect(new Set(fromThen.map(({ delivery }) => delivery))).toEqual(
      new Set([withheld === true ? 'withheld' : 'delivered']),
    );
    // A process that died before it could say what became of its advice changes no arm.
    const unsettled = records.filter(({ payload }) => !payload.kind.endsWith('_delivered'));
    expect(rowOf(unsettled).units.map((unit) => unit.withheld)).toEqual([withheld]);
    const replay = new Replay({ steering });
    expect(records.flatMap((record) => replay.take(record))).toEqual(derivedOf(records));
  }
  expect(arms).toEqual(new Set([true, false]));
});

test('where runs are drawn, runs below a run are in its arm, at any depth', () => {
  const { cox } = setUp({ holdout: BY_RUN });
  for (let number = 0; number < 20; number += 1) {
    const root = cox.startRun({ runId: `root-${number}` });
    const child = root.child({ runId: `child-${number}` });
    const grandchild = child.child({ runId: `grandchild-${number}` });
    expect(root.holdout).toEqual(holdoutArmOf(BY_RUN, root.id));
    expect([child.holdout, grandchild.holdout]).toEqual([root.holdout, root.holdout]);
  }
});

test('a restored run stays in its arm, even after the experiment has ended', () => {
  const { cox } = setUp({ holdout: 1 });
  const snapshot = cox.startRun({ runId: 'run' }).snapshot();
  const run = setUp({}).cox.restoreRun(snapshot);
  expect(getStuck(run)).toEqual([]);
  expect(run.holdout).toMatchObject({ share: 1 });
});

test('in shadow mode there is no experiment, and the record says shadow mode', async () => {
  const { cox, store } = setUp({ holdout: 0.5, mode: 'shadow' });
  const run = cox.startRun();
  expect(getStuck(run)).toEqual([]);
  const records = await recordsOf(run, store);
  expect(records[0]?.payload).not.toHaveProperty('steering.holdout');
  expect(new Set(viewOf(records).advice.map(({ delivery, reason }) => `${delivery}: ${reason}`))).toEqual(
    new Set(['shadowed: shadow mode']),
  );
});

test('the experiment is no part of what tells configurations apart: both arms are of one', async () => {
  const hashes = new Set<unknown>();
  for (const holdout of [0, 0.1, { share: 1, seed: 'x' }]) {
    const { cox, store } = setUp({ holdout });
    const [first] = await recordsOf(cox.startRun(), store);
    if (first?.payload.kind === 'run_started') hashes.add(first.payload.steering?.configuration_hash);
  }
  expect(hashes.size).toBe(1);
});

test('a run taken in steps, as by hooks, has the arm of its id, its subagents too, and keeps it over steps', async () => {
  const config = resolveConfig({ holdout: 0.5 }, { folder: '/project', homeFolder: '/home' });
  const store = memoryStore();
  const stepper = new RunStepper({
    steering: { ...config.steering, holdout: BY_RUN },
    redactor: NO_REDACTION,
    clock: createFakeClock(),
    host: { initial: null, fold: () => null },
    build: 'test',
  });
  for (let number = 0; number < 12; number += 1) {
    const root = `session-${number}`;
    const arm = holdoutArmOf(BY_RUN, root);
    for (const identity of [
      { runId: root, depth: 0 },
      { runId: `${root}/agent`, parentRunId: root, depth: 1 },
    ]) {
      const step = <Result>(work: (run: Run) => Result): Promise<Result | undefined> =>
        store.transact(identity.runId, (view) => {
          const { records, snapshot, result } = stepper.step(view, { identity, begin: () => ({}), work });
          return { records, ...(snapshot === undefined ? {} : { snapshot }), result: result.result };
        });
      expect(await step((run) => run.holdout)).toEqual(arm);
      const texts = await step((run) => getStuck(run).length > 0);
      expect(texts).toBe(arm?.withheld === false);
    }
  }
});
