import type { TrajectoryRecord } from '../core/records/trajectory-record.ts';
import type { PatternDetector, Sighting } from '../core/detect/patterns/pattern-detector.ts';
import type { Configuration } from './configuration.ts';
import { RunReplay } from './run-replay.ts';
import type { FiringKeys, RunRow } from './run-row.ts';

export type OpenReplay = Pick<RunReplay, 'fold' | 'row'>;

/** Maximum number of records kept per run. A longer run is replayed under every configuration from that record on. */
const MAX_RECORDS = 10_000;

/**
 * Returns a function that starts the replay of a run under all configurations.
 *
 * For a sweep of a detector's option, most runs need only one replay. During the replay of the first configuration, the detectors of all
 * configurations receive each step. If a detector returns the same output as the first one, its configuration shares the first result.
 * Otherwise the run is replayed under that configuration when it ends.
 */
export function replaysOf(configurations: readonly Configuration[], keys: FiringKeys): (id: string) => OpenReplay {
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
