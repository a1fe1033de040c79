import { existsSync } from 'node:fs';
import { invalidArgument, messageOf, CoxswainError } from '../../../core/base/error.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { openStoreNamed, requireStore, shownStore, loadProject, openReadableStore } from '../../runs/open-store.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { RunRecorder } from '../../runs/run-recorder.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { storePath } from '../../../stores/store-address.ts';
import { storeProblemText } from '../verify/verify-command.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { EventIntake } from '../../../hosts/claude-code/event-intake.ts';
import { projectRedaction, projectSessions } from '../../../hosts/claude-code/project-sessions.ts';
import { countSpills } from '../../../hosts/claude-code/spilled-events.ts';
import { present } from '../../../core/base/json.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../../../core/records/trajectory-record.ts';
import { lastSeqOf } from '../../../core/facts/run-summary.ts';
import { allRuns } from '../../../core/store/run-page.ts';
import { isDamaged, damageText, toStoreError } from '../../../core/store/store-error.ts';
import type { LiveReader } from '../../../core/store/trajectory-store.ts';

export interface RecoverOptions {
  readonly to?: string;
  readonly json?: boolean;
}

const MAX_RANGES = 5;

/** Runs `coxswain recover`. Returns the exit code: 1 if records were lost or may have been lost. */
export async function recoverCommand(path: string, options: RecoverOptions, terminal: Terminal): Promise<number> {
  const { to } = options;
  if (to === undefined) return foldSpills(path, options, terminal);
  await requireStore(path);
  await requireNew(to);
  const problems = new Problems(terminal);
  problems.source(shownStore(path));
  const source = await openRecoverSource(path);
  const { problems: sourceProblems } = source;
  try {
    const target = await openStoreNamed(to);
    try {
      const recorder = new RunRecorder(
        target,
        ({ runId, error }) => problems.fault({ message: `run ${runId} is not saved: ${messageOf(error)}` }),
        { isCopy: true },
      );
      const totals = {
        runs: 0,
        saved: 0,
        lost: 0,
        interrupted: 0,
        endUnknown: 0,
        sourceProblems,
        problems: 0,
      };
      try {
        for await (const { runId, lastSeq, isEndKnown, items } of source.runs()) {
          const run = { ...(await recoverRun(runId, items, { recorder, lastSeq })), isEndKnown };
          totals.runs += 1;
          totals.saved += run.saved;
          totals.lost += lostOf(run);
          if (run.interrupted) totals.interrupted += 1;
          if (!isEndKnown) totals.endUnknown += 1;
          await terminal.write(options.json === true ? jsonLine(run) : runText(run, terminal));
        }
      } catch (thrown) {
        const { cause = thrown } = toStoreError(thrown, 'recover');
        problems.fault({ message: `the other runs are not saved: ${messageOf(cause)}` });
      }
      for await (const problem of target.verify()) {
        totals.problems += 1;
        problems.fault({ message: `the new store is damaged: ${storeProblemText(problem)}` });
      }
      problems.endSource();
      await terminal.write(options.json === true ? jsonLine(totals) : `${shownStore(to)}: ${totalsText(totals)}\n`);
      return problems.any || totals.lost + totals.endUnknown + sourceProblems > 0 ? 1 : 0;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function requireNew(to: string): Promise<void> {
  const path = storePath(to);
  const isThere = path === undefined ? await holdsRuns(to) : existsSync(path);
  if (!isThere) return;
  throw invalidArgument(`--to ${shownStore(to)}: it already exists; give a new path`);
}

async function holdsRuns(address: string): Promise<boolean> {
  const store = await openStoreNamed(address);
  try {
    return (await store.listRuns({ limit: 1 })).runs.length > 0;
  } finally {
    await store.close();
  }
}

interface RecoveryTotals {
  readonly runs: number;
  readonly saved: number;
  readonly lost: number;
  readonly endUnknown: number;
  readonly sourceProblems: number;
  readonly problems: number;
}

/** Formats the totals. The store is only called verified if every record has a checksum and every run has an end. */
function totalsText(totals: RecoveryTotals): string {
  const { endUnknown, lost, problems, runs, saved, sourceProblems } = totals;
  const doubts = [
    ...(problems > 0 ? ['the new store is damaged'] : []),
    ...(endUnknown > 0 ? [`${countOf(endUnknown, 'run')} may have continued`] : []),
  ];
  const count = `${countOf(runs, 'run')}, ${countOf(saved, 'record')} saved, ${countText(lost)} lost`;
  const source = sourceProblems === 0 ? '' : `; the old store has ${countOf(sourceProblems, 'problem')}`;
  return `${count}; ${doubts.length === 0 ? 'the new store is verified' : doubts.join('; ')}${source}`;
}

function lostOf({ lost }: RecoveredRun): number {
  return lost.reduce((sum, { fromSeq, throughSeq }) => sum + throughSeq - fromSeq + 1, 0);
}

function runText(run: RecoveredRun & { readonly isEndKnown: boolean }, { paint }: Terminal): string {
  const lost = lostOf(run);
  const facts = [
    `${countOf(run.saved, 'record')} saved`,
    ...(lost === 0 ? [] : [`${countText(lost)} lost`]),
    ...(run.interrupted ? ['interrupted'] : []),
    ...(run.isEndKnown ? [] : ['its last records may be missing']),
  ];
  const ranges = run.lost.slice(0, MAX_RANGES).map(rangeText);
  if (run.lost.length > MAX_RANGES) ranges.push(`and ${countText(run.lost.length - MAX_RANGES)} more places`);
  const lines = [`${paint('bold', printableCut(run.runId, 80))}  ${facts.join(', ')}`];
  for (const range of ranges) lines.push(paint('red', `  ${range}`));
  return `${lines.join('\n')}\n`;
}

function rangeText({ fromSeq, throughSeq, reason }: LostRange): string {
  const seqs = fromSeq === throughSeq ? `seq ${fromSeq}` : `seq ${fromSeq} to ${throughSeq}`;
  return `lost ${seqs}: ${printableCut(reason, 200)}`;
}

/** Uses the configuration of the project. Returns 1 if an event is still waiting, is damaged or was rejected. */
async function foldSpills(address: string, { json }: { readonly json?: boolean }, terminal: Terminal): Promise<number> {
  // The store may not exist yet: the waiting events may be its first ones.
  if (countSpills(address).waiting === 0) await requireStore(address);
  const { loaded, projectFolder } = loadProject();
  const { resolved } = loaded;
  const problems = new Problems(terminal);
  problems.source(shownStore(address));
  const onFault = ({ message }: { readonly message: string }): void => problems.fault({ message });
  const redactor = projectRedaction(resolved, onFault);
  const store = await openStoreNamed(address);
  try {
    const sessions = projectSessions(resolved, { store, projectFolder, redactor });
    const intake = new EventIntake({ storeAddress: address, redactor, clock: systemClock, onFault });
    const { folded, problem } = await intake.foldWaiting(sessions, { limitMs: Infinity });
    if (problem !== undefined) problems.fault({ message: problem });
    problems.endSource();
    const { waiting } = countSpills(address);
    const text = `${shownStore(address)}: ${countOf(folded, 'waiting event')} added, ${waiting} left\n`;
    await terminal.write(json === true ? jsonLine({ folded, waiting }) : text);
    return problems.any || waiting > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}

interface LostRange {
  readonly fromSeq: number;
  readonly throughSeq: number;
  readonly reason: string;
}

interface RecoveredRun {
  readonly runId: string;
  readonly saved: number;
  readonly lost: readonly LostRange[];
  /** True if the run had no end. Always false for imported runs, whose source may not record an end. */
  readonly interrupted: boolean;
}

/** After the last record, assumes one lost record per damaged position, or more according to `lastSeq`. */
async function recoverRun(
  runId: string,
  items: AsyncIterable<Salvaged>,
  { recorder, lastSeq }: { readonly recorder: RunRecorder; readonly lastSeq: number },
): Promise<RecoveredRun> {
  const lostRanges: LostRange[] = [];
  let savedCount = 0;
  let nextSeq = 0;
  let reasons: string[] = [];
  let last: TrajectoryRecord | undefined;
  let isClosed = false;

  async function fillGap(throughSeq: number, neighbour: TrajectoryRecord): Promise<void> {
    const reason = reasons[0] ?? 'missing in the store';
    lostRanges.push({ fromSeq: nextSeq, throughSeq, reason });
    const payload = { kind: 'gap', through_seq: throughSeq, reason: 'lost; the run was recovered' } as const;
    await recorder.add(runId, recordLike(neighbour, nextSeq, payload));
    nextSeq = throughSeq + 1;
  }

  for await (const item of items) {
    if (item.type === 'damage') {
      reasons.push(item.reason);
      continue;
    }
    const { record } = item;
    if (record.run_id !== runId)
      reasons.push(`a record of run ${record.run_id ?? 'without id'} among those of this run`);
    if (record.run_id !== runId || record.seq < nextSeq) continue;
    if (record.seq > nextSeq) await fillGap(record.seq - 1, record);
    await recorder.add(runId, record);
    savedCount += 1;
    nextSeq = lastSeqOf(record) + 1;
    reasons = [];
    last = record;
    const { payload } = record;
    isClosed ||= payload.kind === 'run_ended' || (payload.kind === 'run_started' && payload.format !== undefined);
  }
  const endSeq = Math.max(lastSeq, nextSeq - 1 + reasons.length);
  if (last === undefined) {
    const reason = reasons[0] ?? 'it has no records';
    return {
      runId,
      saved: savedCount,
      lost: [{ fromSeq: 0, throughSeq: Math.max(0, endSeq), reason }],
      interrupted: false,
    };
  }
  if (endSeq >= nextSeq) await fillGap(endSeq, last);
  if (!isClosed) {
    const payload = { kind: 'run_ended', outcome: 'interrupted', new_messages: [] } as const;
    await recorder.add(runId, recordLike(last, nextSeq, payload));
  }
  await recorder.end(runId);
  return { runId, saved: savedCount, lost: lostRanges, interrupted: !isClosed };
}

/** Returns true for the end of a run, and for the start of an imported run. */
function recordLike(neighbour: TrajectoryRecord, seq: number, payload: TrajectoryPayload): TrajectoryRecord {
  const { run_id, parent_run_id, depth, recorded_at_unix_ms } = neighbour;
  return {
    schema_version: TRAJECTORY_SCHEMA_VERSION,
    seq,
    ...present({ run_id, parent_run_id }),
    depth,
    recorded_at_unix_ms,
    payload,
  };
}

export type Salvaged =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'damage'; readonly reason: string };

export interface RunToSave {
  readonly runId: string;
  /** Last `seq` of the run according to the store; -1 if unknown. */
  readonly lastSeq: number;
  /** False if the end of the run is unknown, so that its last records may be missing. */
  readonly isEndKnown: boolean;
  readonly items: AsyncIterable<Salvaged>;
}

export interface RecoverSource {
  runs(): AsyncIterable<RunToSave>;
  readonly problems: number;
  close(): Promise<void>;
}

/** Never writes to the store. Pages that SQLite cannot read are left to `sqlite3 FILE .recover`. */
export async function openRecoverSource(address: string): Promise<RecoverSource> {
  let store: LiveReader | undefined;
  try {
    store = await openReadableStore(address);
    const runIds = new Set<string>();
    let problems = 0;
    for await (const { problem, runId } of store.verify()) {
      if (problem !== '') problems += 1;
      if (runId !== undefined) runIds.add(runId);
    }
    return sourceOf(store, problems, runIds);
  } catch (thrown) {
    await store?.close();
    const { code, message } = toStoreError(thrown, `read ${shownStore(address)}`);
    throw new CoxswainError(code, `${shownStore(address)}: nothing can be recovered: ${message}`, { cause: thrown });
  }
}

function sourceOf(store: LiveReader, problems: number, damagedRuns: ReadonlySet<string>): RecoverSource {
  const toSave = (runId: string, lastSeq: number | undefined): RunToSave => ({
    runId,
    lastSeq: lastSeq ?? -1,
    isEndKnown: lastSeq !== undefined,
    items: readPastDamage(store, runId, lastSeq),
  });
  return {
    async *runs() {
      const unlistedRuns = new Set(damagedRuns);
      for await (const { lastSeq, problem, runId } of allRuns(store)) {
        unlistedRuns.delete(runId);
        yield toSave(runId, problem === undefined ? lastSeq : undefined);
      }
      for (const runId of unlistedRuns) yield toSave(runId, undefined);
    },
    problems,
    close: () => store.close(),
  };
}

/** Attempts after the last readable record of a run whose end is unknown. */
const MAX_MISSES = 500;

async function* readPastDamage(
  store: LiveReader,
  runId: string,
  lastSeq: number | undefined,
): AsyncGenerator<Salvaged, void, void> {
  let misses: Salvaged[] = [];
  for (let fromSeq = 0; lastSeq === undefined ? misses.length < MAX_MISSES : fromSeq <= lastSeq;) {
    try {
      for await (const record of store.readRun(runId, { fromSeq })) {
        yield* misses;
        misses = [];
        yield { type: 'record', record };
        fromSeq = lastSeqOf(record) + 1;
      }
      break;
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError) || (!isDamaged(thrown) && thrown.code !== 'invalid-record')) throw thrown;
      const seq = thrown.details['seq'];
      // After the run's last record, damage has taken nothing of this run.
      if (lastSeq === undefined || fromSeq <= lastSeq) misses.push({ type: 'damage', reason: damageText(thrown) });
      fromSeq = Math.max(fromSeq, typeof seq === 'number' ? seq : fromSeq) + 1;
    }
  }
  // Without a summary every position after the last record is a miss.
  yield* lastSeq === undefined ? misses.slice(0, 1) : misses;
}
