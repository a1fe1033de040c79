import { adviceOf, isDerived } from '../core/records/derived-payload.ts';
import { present } from '../core/base/json.ts';
import { hashText } from '../core/base/hash.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../core/records/trajectory-record.ts';
import { roleOf } from '../core/records/kind-definition.ts';
import { RunFold } from '../core/run/run-fold.ts';
import { RunView } from '../core/facts/run-view.ts';
import { SteeringReplay } from '../core/replay/steering-replay.ts';
import type { Configuration } from './configuration.ts';
import type { FiringKeys, RunRow } from './run-row.ts';
import { StopPoints, type RunUse } from './stop-points.ts';

/** The replay of one run under one configuration. */
interface ReplayedRun {
  readonly calls: () => number;
  /** Returns the payloads that the configuration derives from a record. The result may contain the record's own payload. */
  readonly foldRecord: (record: TrajectoryRecord) => readonly TrajectoryPayload[];
}

/**
 * Replays one run under every configuration at the same time, and collects the firings.
 *
 * A run steered by coxswain is evaluated at its host's decision points, with the host's data. Under a configuration other than its own,
 * recorded deliveries and acknowledgements are skipped. Any other run is evaluated after each call and before each turn (see
 * `SteeringReplay`).
 */
export class RunReplay {
  readonly #id: string;
  readonly #configurations: readonly Configuration[];
  readonly #keys: FiringKeys;
  readonly #firedPairs: number[][];
  readonly #stops: readonly StopPoints[];
  readonly #wantedPayloads: Set<string>;
  readonly #view: RunView;
  #replayedRuns: readonly ReplayedRun[] = [];
  #hasBegun = false;
  #task = '';
  #hasOwnSteering = false;
  #hasEvaluations = false;

  constructor(id: string, configurations: readonly Configuration[], keys: FiringKeys) {
    this.#id = id;
    this.#configurations = configurations;
    this.#keys = keys;
    this.#view = new RunView(present({ prices: configurations[0]?.prices }));
    this.#firedPairs = configurations.map(() => []);
    this.#stops = configurations.map(() => new StopPoints());
    this.#wantedPayloads = new Set(
      configurations.flatMap(({ steering }) => steering.models.map((one) => one.classifier.name)),
    );
  }

  /** Processes the next record of the run. */
  fold(record: TrajectoryRecord): void {
    if (!this.#hasBegun) this.#begin(record);
    const call = this.#view.fold(record);
    this.#noteRecorded(record.payload);
    if (call?.endSeq !== undefined) for (const stops of this.#stops) stops.ended(call.number, () => this.#usage());
    for (let index = 0; index < this.#replayedRuns.length; index += 1) {
      const run = this.#replayedRuns[index];
      if (run === undefined) continue;
      const derivedPayloads = run.foldRecord(record);
      for (const payload of derivedPayloads) if (payload !== record.payload) this.#keepPayload(index, payload, run);
    }
  }

  /** Returns the row for the records read until now. */
  row(): RunRow {
    return {
      id: this.#id,
      task: this.#task,
      calls: this.#view.calls,
      success: this.#view.outcome?.success ?? null,
      own: this.#hasOwnSteering,
      evaluated: this.#hasEvaluations,
      gap: this.#view.lostRecords > 0,
      unanswered: [...this.#wantedPayloads].sort(),
      fired: this.#firedPairs,
      use: this.#usage(),
      stops: this.#stops.map((stops) => stops.points()),
    };
  }

  #usage(): RunUse {
    const { costUsd = null, tokens = null } = this.#view.usage;
    const { startedAtMs } = this.#view.counts;
    return { ms: startedAtMs > 0 ? this.#view.lastAtMs - startedAtMs : null, tokens, costUsd };
  }

  #begin({ payload }: TrajectoryRecord): void {
    this.#hasBegun = true;
    const runStarted = payload.kind === 'run_started' ? payload : undefined;
    this.#hasOwnSteering = runStarted?.steering !== undefined;
    if (runStarted?.task !== undefined) this.#task = hashText(runStarted.task);
    this.#replayedRuns = this.#configurations.map((configuration) =>
      this.#hasOwnSteering
        ? replayAtOwnPoints(configuration, runStarted?.steering?.configuration_hash)
        : replayAtEveryCall(configuration),
    );
  }

  #noteRecorded(payload: TrajectoryPayload): void {
    switch (payload.kind) {
      case 'evaluation':
        if (this.#hasOwnSteering) this.#hasEvaluations = true;
        return;
      case 'tool_ended':
        if (!this.#hasOwnSteering && payload.result_missing !== true) this.#hasEvaluations = true;
        return;
      case 'model_answered':
        this.#wantedPayloads.delete(payload.classifier_name);
        return;
      default:
        break;
    }
  }

  #keepPayload(configuration: number, payload: TrajectoryPayload, run: ReplayedRun): void {
    let key: number;
    let calls = run.calls();
    switch (payload.kind) {
      case 'pattern_flagged':
        key = this.#keys.numberOf({ by: 'pattern', name: payload.pattern.kind });
        this.#stops[configuration]?.flagged(payload.pattern, Math.max(0, calls - 1), () => this.#usage());
        break;
      case 'feedback_produced':
      case 'guidance_produced': {
        const { pattern, point } = adviceOf(payload);
        key = this.#keys.numberOf({
          by: 'provider',
          name: payload.provider_name,
          pattern: kindOf(pattern?.identity),
          point,
        });
        // `calls()` counts the next call too if its start triggered the evaluation.
        if (payload.kind === 'feedback_produced') calls = payload.feedback.callIndex;
        break;
      }
      default:
        return;
    }
    const call = Math.max(0, calls - 1);
    this.#firedPairs[configuration]?.push(key, call);
  }
}

/** Returns the kind from an identity of the form `KIND:KEY`. */
function kindOf(identity: string | undefined): string | null {
  if (identity === undefined) return null;
  const end = identity.indexOf(':');
  return end < 0 ? identity : identity.slice(0, end);
}

function replayAtOwnPoints({ redact, steering }: Configuration, recordedHash: string | undefined): ReplayedRun {
  const fold = new RunFold({ steering, prompts: [], ...present({ redact }) });
  const isOwnConfiguration = steering.configurationHash === recordedHash;
  return {
    calls: () => fold.analysis.calls,
    foldRecord: (record) => {
      const { payload } = record;
      if (isDerived(payload) || (!isOwnConfiguration && roleOf(payload) === 'advised')) return [];
      return fold.fold(record);
    },
  };
}

function replayAtEveryCall({ steering, deadline, budget, redact }: Configuration): ReplayedRun {
  const replay = new SteeringReplay({
    resolved: steering,
    ...present({ deadline, budget, redact }),
  });
  return {
    calls: () => replay.analysis.calls,
    foldRecord: (record) => replay.follow(record),
  };
}
