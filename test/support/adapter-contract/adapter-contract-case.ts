import type { CoxswainOptions, RunOptions } from '../../../src/core/run/coxswain.ts';
import type { TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { AdapterHarness, AdapterOutcome, NeutralRequest } from './adapter-harness.ts';
import { payloadsOf, playScene, type Played, type Scene } from './adapter-player.ts';
import type { ContractTools } from './contract-tools.ts';

/** The functions and values shared by all parts of the adapter contract. */
export interface AdapterContractCase {
  readonly harness: AdapterHarness;
  readonly expect: ContractTools['expect'];
  /** Registers a test. The test is skipped if the harness gives a reason. */
  readonly check: (name: string, body: () => Promise<void>) => void;
  /** Plays a scene without coxswain. The outcome is cached. */
  readonly playBaseline: (scene: Scene) => Promise<AdapterOutcome>;
  /** Plays a scene with coxswain and checks the invariants of every run. */
  readonly play: (scene: Scene, steering?: CoxswainOptions, allowed?: Allowed, started?: RunOptions) => Promise<Played>;
}

/** The side effects that a test causes on purpose. */
export interface Allowed {
  readonly faults?: boolean;
  readonly openCalls?: boolean;
  readonly noRecords?: boolean;
}

/** @param tools  the functions of the test runner */
export function adapterContractCase(
  harness: AdapterHarness,
  tools: ContractTools,
): AdapterContractCase & { readonly checkSkips: () => void } {
  const names = new Set<string>();
  const playBaseline = cachedPlayer(harness);
  const skips = harness.skips ?? {};
  const { expect } = tools;
  return {
    harness,
    expect,
    check(name, body) {
      names.add(name);
      const reason = skips[name];
      if (reason === undefined) tools.test(name, body);
      else tools.test.skip(`${name} (skipped: ${reason})`, body);
    },
    playBaseline,
    async play(scene, steering, allowed = {}, started = {}) {
      const outcome = await playScene(harness, scene, steering, started);
      expect(brokenRules(outcome.records, allowed)).toEqual([]);
      for (const records of outcome.children.values()) expect(brokenRules(records, allowed)).toEqual([]);
      expect(allowed.faults === true || outcome.faults).toBe(allowed.faults === true ? true : 0);
      return outcome;
    },
    checkSkips() {
      const unknownTitles = Object.keys(skips).filter((name) => !names.has(name));
      if (unknownTitles.length > 0)
        throw new Error(`${harness.name} skips tests that do not exist: ${unknownTitles.join('; ')}`);
    },
  };
}

/**
 * Caches outcomes. Scenes without coxswain are deterministic, which the first test of the contract checks. An SDK may take seconds
 * to play a scene.
 */
function cachedPlayer(harness: AdapterHarness): (scene: Scene) => Promise<AdapterOutcome> {
  const byScript = new Map<Scene['script'], Map<string, Promise<AdapterOutcome>>>();
  return (scene) => {
    const { below, script, streaming = false, session = false, userHookThrows = false, abortReason } = scene;
    const key = JSON.stringify({ below, streaming, session, userHookThrows, abortReason });
    const byKey = byScript.get(script) ?? new Map<string, Promise<AdapterOutcome>>();
    byScript.set(script, byKey);
    const outcome = byKey.get(key) ?? harness.run(scene);
    byKey.set(key, outcome);
    return outcome;
  };
}

/** Returns a message for each violated invariant of the records of a run. */
function brokenRules(records: readonly TrajectoryRecord[], allowed: Allowed): readonly string[] {
  if (allowed.noRecords === true) return [];
  const startedIds = payloadsOf(records, 'tool_started').map((call) => call.tool_call_id);
  const ended = payloadsOf(records, 'tool_ended').map((call) => call.tool_call_id);
  const open = startedIds.filter((id) => !ended.includes(id));
  return [
    ...(records.every(({ seq }, index) => seq === index) ? [] : ['seq has a hole']),
    ...(records[0]?.payload.kind === 'run_started' ? [] : ['the first record is not run_started']),
    ...(payloadsOf(records, 'run_ended').length === 1 ? [] : ['the run did not end exactly once']),
    ...repeatedIds(startedIds).map((id) => `call ${id} started twice`),
    ...repeatedIds(ended).map((id) => `call ${id} ended twice`),
    ...ended.filter((id) => !startedIds.includes(id)).map((id) => `call ${id} ended and never started`),
    ...(allowed.openCalls === true ? [] : open.map((id) => `call ${id} never ended`)),
    ...unsettledAdvice(records),
    ...(allowed.faults === true
      ? []
      : payloadsOf(records, 'fault_noticed').map(({ where, message }) => where + message)),
  ];
}

/** Returns a message for each piece of advice that does not have exactly one delivery verdict. */
function unsettledAdvice(records: readonly TrajectoryRecord[]): readonly string[] {
  const advice = [...payloadsOf(records, 'feedback_produced'), ...payloadsOf(records, 'guidance_produced')];
  const verdicts = [...payloadsOf(records, 'feedback_delivered'), ...payloadsOf(records, 'guidance_delivered')];
  const ids = verdicts.map((verdict) => verdict.advice_id);
  return [
    ...advice.filter(({ advice_id }) => !ids.includes(advice_id)).map(({ advice_id }) => `${advice_id} has no verdict`),
    ...repeatedIds(ids).map((id) => `advice ${id} has two verdicts`),
  ];
}

function repeatedIds(ids: readonly string[]): readonly string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

/** Returns the number of occurrences of `mark` in each request. */
export function timesInRequests(requests: readonly NeutralRequest[], mark: string): readonly number[] {
  return requests.map(({ raw }) => raw.split(mark).length - 1);
}

/**
 * Returns the part of an outcome that coxswain must not change. Tool runs are sorted, because parallel calls may start in any
 * order.
 */
export function endingOf(outcome: AdapterOutcome): object {
  const { ended, finalText, toolRuns, requests } = outcome;
  return {
    ended,
    finalText,
    toolRuns: toolRuns.map((run) => JSON.stringify(run)).toSorted(),
    requests: requests.length,
  };
}
