import { present } from '../../src/core/base/json.ts';
import { EffectRowFold, type EffectRow, type EffectExperiment } from '../../src/lab/effect-row.ts';
import { measureEffect } from '../../src/lab/measure-effect.ts';
import type { TrajectoryPattern } from '../../src/core/records/trajectory-pattern.ts';
import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';
import { holdoutArmOf, silenceReason, unitOf, type HoldoutArm } from '../../src/core/steering/holdout.ts';
import { stretchAfter, type StuckStretch } from '../../src/core/steering/stop-policy.ts';
import { scriptRun } from './script-records.ts';
import { seededRandom } from './seeded-random.ts';

/** Agents whose response to advice is known. */
export interface Agents {
  readonly name: string;
  readonly runs: number;
  readonly share: number;
  /** Episodes that a run can come to, at most. */
  readonly episodes: number;
  /** Probability of following advice at the next call; negative: advice makes the agent leave less often by itself. */
  readonly follows: number;
  /** Probability of leaving a pattern by itself, per call. */
  readonly leaves: number;
  /** Variation of `follows` and `leaves` between agents, as a fraction of both. */
  readonly differ: number;
  /** Advice on no pattern comes before everything else. */
  readonly deadlineFirst?: boolean;
}

/** Calls of a run, at most. */
const CALLS = 50;
const WITHIN = 10;
/** Calls from leaving a pattern until it is on record as left. */
const LAG = 3;

interface SimulatedRun {
  readonly row: EffectRow;
  /** Per unit: the increase in the probability of leaving in time that advice causes. */
  readonly effects: readonly number[];
}

/** One run of one agent, recorded as a live run would be and read as `effect` reads it. */
export function simulateRun(agents: Agents, runId: string, random: () => number): SimulatedRun {
  const holdout = holdoutArmOf({ share: agents.share, seed: agents.name }, runId);
  const tape = new Tape(runId, holdout);
  const factor = 1 + agents.differ * (2 * random() - 1);
  const [follows, leaves] = [agents.follows * factor, Math.min(0.9, agents.leaves * factor)];
  const effects: number[] = [];
  if (agents.deadlineFirst === true) tape.advise('Deadline');
  for (let episode = 0; episode < agents.episodes && tape.calls < CALLS; episode += 1) {
    tape.call(1 + Math.floor(3 * random()));
    const left = CALLS - tape.calls;
    if (left <= 0) break;
    const isAdvised = tape.stuckIn(episode);
    const chances = Math.max(0, Math.min(WITHIN, left) - LAG);
    const alone = (hazard: number): number => 1 - (1 - hazard) ** chances;
    // Advice that harms makes an agent leave less often by itself.
    const hazard = isAdvised && follows < 0 ? leaves * (1 + follows) : leaves;
    const withAdvice =
      follows < 0 ? alone(leaves * (1 + follows)) : follows * Number(chances > 0) + (1 - follows) * alone(leaves);
    effects.push(withAdvice - alone(leaves));
    const followed = isAdvised && random() < follows;
    const aloneAt = hazard === 0 ? Infinity : Math.ceil(Math.log(1 - random()) / Math.log(1 - hazard));
    const leftAt = followed ? 1 : aloneAt;
    if (leftAt + LAG > left) {
      tape.call(left);
      break;
    }
    tape.call(leftAt + LAG);
    tape.left(episode);
    if (random() < 0.2) break;
  }
  return { row: tape.row(), effects };
}

/** One simulated experiment, analysed repeatedly as its runs arrive. */
interface SimulatedExperiment {
  readonly looks: readonly EffectExperiment[];
  readonly effects: readonly number[];
}

/** Runs one experiment. @param every  a look after so many runs */
function simulateExperiment(agents: Agents, seed: number, every: number): SimulatedExperiment {
  const random = seededRandom(seed);
  const rows: EffectRow[] = [];
  const effects: number[] = [];
  const looks: EffectExperiment[] = [];
  for (let number = 1; number <= agents.runs; number += 1) {
    const run = simulateRun(agents, `run-${seed}-${number}`, random);
    rows.push(run.row);
    effects.push(...run.effects);
    if (number % every !== 0) continue;
    const [first] = measureEffect({ paths: [], worthwhile: 0.05, rows }).experiments;
    if (first !== undefined) looks.push(first);
  }
  return { looks, effects };
}

/** Summary of many experiments with the same agents. */
export interface SimulationSummary {
  readonly experiments: number;
  /** The mean of what advice truly changed, over all units. */
  readonly truth: number;
  /** The mean of the estimates less the truth, and its standard error. */
  readonly bias: number;
  readonly biasError: number;
  /** Shares of experiments: the last single-look interval holds the truth. */
  readonly onceHolds: number;
  /** Every interval of every look holds the truth, of the kind for any number of looks. */
  readonly alwaysHolds: number;
  /** The same for single-look intervals, which are not made for it. */
  readonly onceHoldsAtEveryLook: number;
  /** Decided by the last look: helps or harms. */
  readonly decided: number;
}

/** Repeats an experiment with other seeds. */
export function simulateExperiments(agents: Agents, experiments: number, every: number): SimulationSummary {
  const all = Array.from({ length: experiments }, (_, seed) => simulateExperiment(agents, seed + 1, every));
  const effects = all.flatMap((one) => one.effects);
  const truth = effects.reduce((sum, effect) => sum + effect, 0) / effects.length;
  const lasts = all.flatMap(({ looks }) => looks.at(-1) ?? []);
  const estimates = lasts.flatMap(({ difference }) => (difference === null ? [] : [difference]));
  const mean = estimates.reduce((sum, one) => sum + one, 0) / estimates.length;
  const variance = estimates.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (estimates.length - 1);
  const share = (holds: (one: SimulatedExperiment) => boolean): number => all.filter(holds).length / experiments;
  const always = ({ high, low }: EffectExperiment): boolean =>
    low === null || high === null || (low <= truth && truth <= high);
  const once = ({ onceHigh, onceLow }: EffectExperiment): boolean =>
    onceLow === null || onceHigh === null || (onceLow <= truth && truth <= onceHigh);
  return {
    experiments,
    truth,
    bias: mean - truth,
    biasError: Math.sqrt(variance / estimates.length),
    onceHolds: share(({ looks }) => looks.slice(-1).every(once)),
    alwaysHolds: share(({ looks }) => looks.every(always)),
    onceHoldsAtEveryLook: share(({ looks }) => looks.every(once)),
    decided: lasts.filter(({ status }) => status === 'helps' || status === 'harms').length / experiments,
  };
}

/** Writes the records of a run. */
class Tape {
  readonly #runId: string;
  readonly #holdout: HoldoutArm | undefined;
  readonly #payloads: TrajectoryPayload[];
  #stretch: StuckStretch | undefined;
  calls = 0;

  constructor(runId: string, holdout: HoldoutArm | undefined) {
    this.#runId = runId;
    this.#holdout = holdout;
    const arm = holdout === undefined ? {} : { holdout };
    const steering = { prompt_name: 'p', configuration_hash: 'c', mode: 'steer', ...arm } as const;
    this.#payloads = [{ kind: 'run_started', identity: { run_id: runId, depth: 0 }, steering }];
  }

  call(count: number): void {
    for (let index = 0; index < count; index += 1) {
      this.calls += 1;
      this.#payloads.push({ kind: 'tool_started', tool_call_id: `c${this.calls}`, tool_name: 'bash', args: null });
    }
  }

  /** @returns true if the agent is advised */
  stuckIn(episode: number): boolean {
    const pattern = this.#pattern(episode);
    this.#stretch = stretchAfter(this.#stretch, 'flagged', pattern);
    this.#payloads.push({ kind: 'pattern_flagged', cause_seq: 0, ordinal: 0, pattern });
    return this.advise('Pattern', pattern);
  }

  left(episode: number): void {
    this.#stretch = undefined;
    this.#payloads.push({ kind: 'pattern_cleared', cause_seq: 0, ordinal: 0, pattern: this.#pattern(episode) });
  }

  advise(provider_name: string, pattern?: TrajectoryPattern): boolean {
    const advice_id = `a${this.#payloads.length}`;
    const unit = unitOf({
      providerName: provider_name,
      speaker: 'feedback',
      ...present({ pattern, stretch: this.#stretch }),
    });
    const reason = silenceReason('steer', this.#holdout, { runId: this.#runId, unit });
    const feedback = {
      summary: 's',
      observations: [],
      suggestions: [],
      severity: 'caution',
      atMs: 0,
      callIndex: 1,
      promptName: 'p',
      ...(pattern === undefined ? {} : { pattern }),
    } as const;
    const produced = { kind: 'feedback_produced', cause_seq: 0, ordinal: 0, advice_id, provider_name } as const;
    const how = reason === undefined ? { channel: 'test' } : { reason };
    const delivered = reason === undefined;
    this.#payloads.push({ ...produced, text: 't', feedback });
    this.#payloads.push({ kind: 'feedback_delivered', advice_id, provider_name, delivered, ...how });
    return delivered;
  }

  row(): EffectRow {
    const fold = new EffectRowFold(this.#runId);
    const end: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', new_messages: [] };
    for (const record of scriptRun(this.#runId, [...this.#payloads, end])) fold.fold(record);
    return fold.row();
  }

  /** The same pattern each time: only since when it is open tells its episodes apart. */
  #pattern(episode: number): TrajectoryPattern {
    return {
      kind: 'identical_call',
      identity: 'identical_call:x',
      stuck: true,
      level: 'warn',
      confidence: 0.9,
      evidence: [0],
      firstSeen: episode,
      flaggedAt: episode,
      occurrences: 3,
    };
  }
}

/** Kinds of agents that the figures are proved with. */
export const AGENTS: readonly Agents[] = [
  { name: 'no effect', runs: 200, share: 0.5, episodes: 1, follows: 0, leaves: 0.06, differ: 0.9 },
  { name: 'helps, one episode a run', runs: 200, share: 0.5, episodes: 1, follows: 0.4, leaves: 0.06, differ: 0.9 },
  {
    name: 'helps, many episodes, agents differ',
    runs: 200,
    share: 0.5,
    episodes: 8,
    follows: 0.4,
    leaves: 0.1,
    differ: 0.95,
  },
  {
    name: 'no effect, many episodes, agents differ',
    runs: 100,
    share: 0.5,
    episodes: 8,
    follows: 0,
    leaves: 0.1,
    differ: 0.95,
  },
  { name: 'harms, many episodes', runs: 200, share: 0.5, episodes: 4, follows: -0.6, leaves: 0.12, differ: 0.5 },
  { name: 'helps, a tenth withheld', runs: 400, share: 0.1, episodes: 3, follows: 0.3, leaves: 0.06, differ: 0.9 },
  {
    name: 'helps, a deadline speaks first',
    runs: 200,
    share: 0.5,
    episodes: 2,
    follows: 0.3,
    leaves: 0.06,
    differ: 0.9,
    deadlineFirst: true,
  },
  {
    name: 'nearly all leave when told',
    runs: 100,
    share: 0.5,
    episodes: 1,
    follows: 0.97,
    leaves: 0.005,
    differ: 0.02,
  },
];
