import { present } from '../core/base/json.ts';
import { assertNever } from '../core/base/error.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../core/records/trajectory-record.ts';
import { withoutBytes } from '../core/records/without-bytes.ts';
import { withShortNames } from '../core/records/short-names.ts';
import type { ImportDiagnostic, ImportedRun, ImportItem } from './importer.ts';
import { RunIds } from './run-ids.ts';

export interface ReadRun {
  /** The importer's key of the run. It is unique in its source. */
  readonly key: string;
  /** Id of the run in its records. It is unique among all runs that share the `RunIds`. */
  readonly id: string;
  readonly parentId?: string;
  /** 0 for a root run. At least 1 for a child run, even if its parent was not found. */
  readonly depth: number;
}

/** Output of `readRuns`, in source order. */
export type ReadRunsItem =
  | { readonly type: 'record'; readonly run: ReadRun; readonly record: TrajectoryRecord }
  | { readonly type: 'end'; readonly run: ReadRun }
  /** `run` is set if the diagnostic belongs to one open run. */
  | { readonly type: 'diagnostic'; readonly diagnostic: ImportDiagnostic; readonly run?: ReadRun };

export interface ReadRunsOptions {
  /** Prefix of `run_started.source`. The prefix is followed by `#` and the run's id in the source. */
  readonly source: string;
  /** Shared by all sources of one command. Default: ids are unique only in this source. */
  readonly ids?: RunIds;
}

/**
 * Converts import items to records. The first record of a run is `run_started`, which is created from the `run` item. The
 * `seq` numbers of a run have no gaps. A record without a time gets 0. Every run that was started also ends, at the latest at
 * the end of the items or after an error.
 *
 * @throws the errors of the items, after open runs have ended Cost: O(1) per item; keeps one small object per open run and two
 * ids per run.
 */
export async function* readRuns(
  items: AsyncIterable<ImportItem>,
  options: ReadRunsOptions,
): AsyncGenerator<ReadRunsItem> {
  const stamps = new Stamps(options.source, options.ids ?? new RunIds());
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) yield* stamps.take(item);
  } catch (error) {
    failure = { error };
  }
  yield* stamps.end();
  if (failure !== undefined) throw failure.error;
}

/** The caller awaits once per list. Consume each completely before the next. Throws after open runs have ended. */
export async function* readRunGroups(
  groups: AsyncIterable<Iterable<ImportItem>>,
  options: ReadRunsOptions,
): AsyncGenerator<Iterable<ReadRunsItem>> {
  const stamps = new Stamps(options.source, options.ids ?? new RunIds());
  let failure: { readonly error: unknown } | undefined;
  // The caller consumes the lists, so an error of the caller must not skip the end of the runs.
  function* recordsOf(items: Iterable<ImportItem>): Generator<ReadRunsItem> {
    try {
      for (const item of items) {
        if (item.type === 'record') yield stamps.record(item.runKey, item.payload, item.atMs);
        else for (const stamped of stamps.take(item)) yield stamped;
      }
    } catch (error) {
      failure = { error };
    }
  }
  try {
    for await (const items of groups) {
      yield recordsOf(items);
      if (failure !== undefined) break;
    }
  } catch (error) {
    failure = { error };
  }
  yield stamps.end();
  if (failure !== undefined) throw failure.error;
}

interface OpenRun {
  readonly run: ReadRun;
  /** Template of the run's records. Their common fields are built only once. */
  readonly blank: Omit<TrajectoryRecord, 'payload'>;
  nextSeq: number;
}

class Stamps {
  readonly #source: string;
  readonly #ids: RunIds;
  readonly #open = new Map<string, OpenRun>();
  /** Run ids by key. Includes ended runs, because a later run may name one as its parent. */
  readonly #idOfKey = new Map<string, string>();

  constructor(source: string, ids: RunIds) {
    this.#source = source;
    this.#ids = ids;
  }

  take(item: ImportItem): readonly ReadRunsItem[] {
    switch (item.type) {
      case 'run':
        return this.#beginRun(item.run);
      case 'record':
        return [this.record(item.runKey, item.payload, item.atMs)];
      case 'end':
        return this.#endRun(item.runKey);
      case 'diagnostic': {
        const { runKey } = item.diagnostic;
        const open = runKey === undefined ? undefined : this.#open.get(runKey);
        return [{ ...item, ...present({ run: open?.run }) }];
      }
      default:
        return assertNever(item);
    }
  }

  /** Returns the output for a record, which is always one item. */
  record(key: string, payload: TrajectoryPayload, atMs: number | undefined): ReadRunsItem {
    const open = this.#open.get(key);
    if (open === undefined) return lossDiagnostic(`a ${payload.kind} record outside its run ${key}`);
    const { run, nextSeq: seq } = open;
    const stamped =
      payload.kind === 'gap' && payload.through_seq < seq
        ? { ...payload, through_seq: seq }
        : withShortNames(withoutBytes(payload));
    open.nextSeq = (stamped.kind === 'gap' ? stamped.through_seq : seq) + 1;
    const recorded_at_unix_ms = atMs !== undefined && Number.isFinite(atMs) && atMs > 0 ? atMs : 0;
    return { type: 'record', run, record: { ...open.blank, seq, recorded_at_unix_ms, payload: stamped } };
  }

  end(): readonly ReadRunsItem[] {
    return [...this.#open.keys()].flatMap((key) => this.#endRun(key));
  }

  #beginRun(imported: ImportedRun): readonly ReadRunsItem[] {
    if (this.#open.has(imported.key)) return [lossDiagnostic(`run ${imported.key} begins twice; its parts are joined`)];
    const parentId = this.#parentOf(imported);
    const id = this.#ids.take(imported.id);
    this.#idOfKey.set(imported.key, id);
    const depth = this.#ids.place(id, parentId);
    const run: ReadRun = { key: imported.key, id, depth, ...present({ parentId }) };
    const recordFields = {
      schema_version: TRAJECTORY_SCHEMA_VERSION,
      seq: 0,
      run_id: id,
      ...present({ parent_run_id: parentId }),
      depth,
      recorded_at_unix_ms: 0,
    };
    this.#open.set(imported.key, { run, blank: recordFields, nextSeq: 0 });
    return [this.record(imported.key, this.#startPayload(run, imported), imported.startedAtMs)];
  }

  #parentOf({ key, parentId }: ImportedRun): string | undefined {
    if (parentId === undefined || parentId === key) return undefined;
    return this.#idOfKey.get(parentId) ?? this.#ids.latest(parentId);
  }

  #startPayload({ id, parentId, depth }: ReadRun, imported: ImportedRun): TrajectoryPayload {
    const { conversationId, agentName, modelId, steering, task } = imported;
    return {
      kind: 'run_started',
      identity: {
        run_id: id,
        ...present({ parent_run_id: parentId }),
        depth,
        ...present({ conversation_id: conversationId, agent_name: agentName, model_id: modelId }),
      },
      ...present({ task }),
      source: `${this.#source}#${imported.id}`,
      format: imported.format,
      ...present({ steering }),
    };
  }

  #endRun(key: string): readonly ReadRunsItem[] {
    const open = this.#open.get(key);
    if (open === undefined) return [];
    this.#open.delete(key);
    return [{ type: 'end', run: open.run }];
  }
}

function lossDiagnostic(message: string): ReadRunsItem {
  return { type: 'diagnostic', diagnostic: { severity: 'error', message } };
}
