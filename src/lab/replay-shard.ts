import { present } from '../core/base/json.ts';
import type { Configuration } from './configuration.ts';
import { shownSource, type Shard } from './list-shards.ts';
import { readShard, type ShardReader } from './read-shard.ts';
import { FiringKeys, type RunRow, type ShardProblem, type ShardResult } from './run-row.ts';
import type { TrajectoryRecord, TrajectoryPayload } from '../core/records/trajectory-record.ts';
import type { PatternDetector, Sighting } from '../core/detect/patterns/pattern-detector.ts';
import { adviceOf, isDerived } from '../core/records/derived-payload.ts';
import { hashText } from '../core/base/hash.ts';
import { roleOf } from '../core/records/kind-definition.ts';
import { RunFold } from '../core/run/run-fold.ts';
import { RunView } from '../core/facts/run-view.ts';
import { SteeringReplay } from '../core/replay/steering-replay.ts';
import { StopPoints, type RunUse } from './judge-gates.ts';

interface ReplayedRun {
  readonly calls: () => number;
  /** Returns the payloads that the configuration derives from a record. The result may contain the record's own payload. */
  readonly foldRecord: (record: TrajectoryRecord) => readonly TrajectoryPayload[];
}

/**
 * A run steered by coxswain is evaluated at its host's decision points; under another configuration, recorded
 * deliveries and acknowledgements are skipped. Any other run is evaluated after each call and before each turn.
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

  row(): RunRow {
    return {
      id: this.#id,
      task: this.#task,
      agent: [this.#view.counts.agentName, this.#view.counts.modelId].filter((name) => name !== undefined).join(', '),
      origin: this.#view.started?.source?.replace(/#[^#]*$/, '') ?? '',
      parent: this.#view.counts.parentRunId ?? '',
      calls: this.#view.calls,
      success: this.#view.outcome?.success ?? null,
      own: this.#hasOwnSteering,
      advised: this.#hasOwnSteering && this.#view.advice.some(({ delivery }) => delivery === 'delivered'),
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

function kindOf(identity: string | undefined): string | null {
  if (identity === undefined) return null;
  const end = identity.indexOf(':');
  return end < 0 ? identity : identity.slice(0, end);
}

function replayAtOwnPoints({ redactor, steering }: Configuration, recordedHash: string | undefined): ReplayedRun {
  const fold = new RunFold({ steering, prompts: [], redactor });
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

function replayAtEveryCall({ steering, deadline, budget, redactor }: Configuration): ReplayedRun {
  const replay = new SteeringReplay({ resolved: steering, redactor, ...present({ deadline, budget }) });
  return {
    calls: () => replay.analysis.calls,
    foldRecord: (record) => replay.follow(record),
  };
}

type OpenReplay = Pick<RunReplay, 'fold' | 'row'>;

/** Maximum number of records kept per run. A longer run is replayed under every configuration from that record on. */
const MAX_RECORDS = 10_000;

/**
 * For a sweep of a detector's option, the detectors of all configurations receive each step of the first replay. If one
 * returns another output than the first, the run is replayed under its configuration when it ends.
 */
function replaysOf(configurations: readonly Configuration[], keys: FiringKeys): (id: string) => OpenReplay {
  const watch: Watch = { differing: new Set() };
  const lead = leadOf(configurations, watch);
  return lead === undefined
    ? (id) => new RunReplay(id, configurations, keys)
    : (id) => new SweepReplay(id, { configurations, keys, lead, watch });
}

/** Indices of the configurations that differ from the first one in the current run. */
interface Watch {
  differing: Set<number>;
}

interface SweepSetup {
  readonly configurations: readonly Configuration[];
  readonly keys: FiringKeys;
  /** The first configuration. Its swept detector also runs the detectors of the other configurations. */
  readonly lead: Configuration;
  readonly watch: Watch;
}

class SweepReplay implements OpenReplay {
  readonly #id: string;
  readonly #setup: SweepSetup;
  readonly #lead: RunReplay;
  readonly #differing = new Set<number>();
  #records: TrajectoryRecord[] = [];
  /** The replays by configuration; the first configuration has none. Undefined while the results may still be shared. */
  #otherReplays: readonly (RunReplay | undefined)[] | undefined;

  constructor(id: string, setup: SweepSetup) {
    this.#id = id;
    this.#setup = setup;
    this.#lead = new RunReplay(id, [setup.lead], setup.keys);
  }

  fold(record: TrajectoryRecord): void {
    this.#setup.watch.differing = this.#differing;
    this.#lead.fold(record);
    if (this.#otherReplays !== undefined) {
      for (const replay of this.#otherReplays) replay?.fold(record);
      return;
    }
    this.#records.push(record);
    const { payload } = record;
    // A run that was recorded under one of these configurations is replayed differently under that one.
    const isSteered = payload.kind === 'run_started' && payload.steering !== undefined;
    if (isSteered || this.#records.length > MAX_RECORDS) this.#replayOthers(() => true);
  }

  row(): RunRow {
    if (this.#otherReplays === undefined) this.#replayOthers((index) => this.#differing.has(index));
    const lead = this.#lead.row();
    const rows = this.#setup.configurations.map((_, index) => this.#otherReplays?.[index]?.row() ?? lead);
    return {
      ...lead,
      fired: rows.flatMap(({ fired }) => fired),
      stops: rows.flatMap(({ stops }) => stops),
    };
  }

  #replayOthers(isReplayed: (index: number) => boolean): void {
    const { configurations, keys } = this.#setup;
    this.#otherReplays = configurations.map((configuration, index) => {
      if (index === 0 || !isReplayed(index)) return undefined;
      const replay = new RunReplay(this.#id, [configuration], keys);
      for (const record of this.#records) replay.fold(record);
      return replay;
    });
    this.#records = [];
  }
}

/** Returns the first configuration with its swept detector wrapped. Undefined if they are not a sweep of a detector's option. */
function leadOf(configurations: readonly Configuration[], watch: Watch): Configuration | undefined {
  const [lead] = configurations;
  const [section, name = ''] = lead?.swept?.path.split('.') ?? [];
  const sweptDetectors = configurations.flatMap(({ steering }) =>
    steering.detectors.filter((one) => one.name === name),
  );
  const [first, ...others] = sweptDetectors;
  if (lead === undefined || first === undefined || section !== 'detectors') return undefined;
  if (others.length === 0 || sweptDetectors.length !== configurations.length) return undefined;
  const watchedDetector = watchDetector(first, others, watch);
  const detectors = lead.steering.detectors.map((one) => (one === first ? watchedDetector : one));
  return { ...lead, steering: { ...lead.steering, detectors } };
}

/** Wraps the first detector so that the other detectors observe the same steps. */
function watchDetector(first: PatternDetector, others: readonly PatternDetector[], watch: Watch): PatternDetector {
  return {
    name: first.name,
    start() {
      const fold = first.start();
      const otherFolds = others.map((detector) => detector.start());
      return {
        observe(step, context) {
          const { differing } = watch;
          let sightings: readonly Sighting[] | undefined;
          try {
            sightings = fold.observe(step, context);
          } catch (error) {
            for (const setIndex of others.keys()) differing.add(setIndex + 1);
            throw error;
          }
          for (const [at, other] of otherFolds.entries()) {
            if (!differing.has(at + 1) && !isSame(() => other.observe(step, context), sightings)) differing.add(at + 1);
          }
          return sightings;
        },
        snapshot: () => fold.snapshot(),
      };
    },
  };
}

function isSame(observe: () => readonly Sighting[] | undefined, expected: readonly Sighting[] | undefined): boolean {
  try {
    const observed = observe();
    const isEmpty = (observed?.length ?? 0) === 0 && (expected?.length ?? 0) === 0;
    return isEmpty || JSON.stringify(observed) === JSON.stringify(expected);
  } catch {
    return false;
  }
}

/** Maximum number of open runs per file. */
const MAX_OPEN = 1000;
/** Maximum number of problems kept per shard. Further problems are only counted. */
const MAX_PROBLEMS = 20;

/**
 * Read errors become problems. Memory: the importers' buffers, at most 1,000 open runs (in a sweep also their records),
 * a row per run.
 */
export async function replayShard(shard: Shard, configurations: readonly Configuration[]): Promise<ShardResult> {
  const replay = new ShardReplay(shard, configurations);
  await readShard(shard, replay);
  return replay.result();
}

class ShardReplay implements ShardReader {
  readonly #path: string;
  readonly #replayOf: (id: string) => OpenReplay;
  readonly #keys = new FiringKeys();
  readonly #rows: RunRow[] = [];
  readonly #problems: ShardProblem[] = [];
  readonly #open = new Map<string, OpenReplay>();
  readonly #shortenedRuns = new Set<string>();
  #problemsLeft = 0;
  #last: string | undefined;
  #lastReplay: OpenReplay | undefined;

  constructor(shard: Shard, configurations: readonly Configuration[]) {
    this.#path = shownSource(shard);
    this.#replayOf = replaysOf(configurations, this.#keys);
  }

  record(run: string, record: TrajectoryRecord): void {
    (run === this.#last ? this.#lastReplay : this.#turnTo(run))?.fold(record);
  }

  end(run: string): void {
    if (this.#last === run) this.#last = undefined;
    const replay = this.#open.get(run);
    if (replay === undefined) return;
    this.#open.delete(run);
    this.#rows.push(replay.row());
  }

  problem(problem: ShardProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
    else this.#problemsLeft += 1;
  }

  result(): ShardResult {
    const hiddenProblems = this.#problemsLeft;
    const remainder = hiddenProblems === 0 ? [] : [{ path: this.#path, message: `and ${hiddenProblems} more` }];
    return { keys: this.#keys.keys, rows: this.#rows, problems: [...this.#problems, ...remainder] };
  }

  /** Marks this run as the most recently used, and makes room if the run is new. */
  #turnTo(run: string): OpenReplay | undefined {
    this.#last = run;
    let replay = this.#open.get(run);
    if (replay !== undefined) {
      this.#open.delete(run);
      this.#open.set(run, replay);
    } else if (!this.#shortenedRuns.has(run)) {
      replay = this.#replayOf(run);
      this.#open.set(run, replay);
      this.#makeRoom();
    }
    this.#lastReplay = replay;
    return replay;
  }

  #makeRoom(): void {
    if (this.#open.size <= MAX_OPEN) return;
    const oldest = this.#open.keys().next();
    if (oldest.done === true) return;
    const run = oldest.value;
    this.end(run);
    this.#shortenedRuns.add(run);
    const message = `run ${run} was left open for ${MAX_OPEN} other runs; the rest of it is not read`;
    this.problem({ path: this.#path, message });
  }
}
