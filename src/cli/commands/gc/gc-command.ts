import { spanOption } from '../../terminal/option-values.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { parseBytes, countOf, bytesText } from '../../../core/base/number-text.ts';
import { present } from '../../../core/base/json.ts';
import {
  type CollectableStore,
  type CollectedRun,
  collectGarbage,
  DEFAULT_MAX_STORE_BYTES,
  type GcOptions,
  type GcReport,
  isActive,
} from '../../../stores/collect-garbage.ts';
import { allRuns } from '../../../core/store/run-page.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { openExistingStore, openReadableStore, shownStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { timeText } from '../../terminal/time-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const MAX_LISTED = 20;

export interface GcCommandOptions {
  readonly olderThan?: string;
  readonly maxSize?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function gcCommand(
  path: string | undefined,
  options: GcCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const file = storeNamed(path, terminal);
  const limits = limitsOf(options);
  const isDryRun = options.dryRun === true;
  const store = await (isDryRun ? openForPlanning(file) : openExistingStore(file));
  try {
    const report = await collectGarbage(store, { ...limits, isDryRun, maxRuns: Infinity });
    const { bytesAfter, bytesBefore, collected, failed, left } = report;
    const listedRuns = options.json === true ? collected : collected.slice(0, MAX_LISTED);
    for (const run of listedRuns) {
      await terminal.write(options.json === true ? jsonLine(run) : rowText(run, isDryRun, terminal));
    }
    const hiddenCount = collected.length - listedRuns.length;
    if (hiddenCount > 0) await terminal.write(`and ${countOf(hiddenCount, 'more run')}; --json lists all\n`);
    const problems = new Problems(terminal);
    problems.source(shownStore(file));
    for (const { runId, error } of failed) problems.fault({ message: `run ${runId} is not deleted: ${error.message}` });
    problems.endSource();
    if (left > 0) terminal.complain(`coxswain: ${countOf(left, 'run')} changed meanwhile; kept`);
    const totals = { runs: collected.length, failed: failed.length, bytesBefore, bytesAfter, dryRun: isDryRun };
    await terminal.write(options.json === true ? jsonLine(totals) : `${totalsText(file, totals)}\n`);
    if (limits.maxBytes !== undefined && bytesAfter > limits.maxBytes) {
      const reason = await reasonToStay(store, report);
      terminal.complain(`coxswain: ${shownStore(file)}: still over ${bytesText(limits.maxBytes)}: ${reason}`);
    }
    return failed.length === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Runs are only left if they, or a run of their tree, must be kept. */
async function reasonToStay(store: CollectableStore, { collected, failed, left }: GcReport): Promise<string> {
  const collectedIds = new Set(collected.map(({ runId }) => runId));
  const nowMs = systemClock.nowMs();
  let activeRuns = 0;
  let damagedRuns = 0;
  for await (const run of allRuns(store)) {
    if (collectedIds.has(run.runId)) continue;
    if (run.problem !== undefined) damagedRuns += 1;
    else if (isActive(run, nowMs)) activeRuns += 1;
  }
  const kept = [
    ...(activeRuns > 0 ? [`${countOf(activeRuns, 'run')} active in the last 24 hours`] : []),
    ...(damagedRuns > 0 ? [`${countOf(damagedRuns, 'damaged run')} (run coxswain verify)`] : []),
    ...(failed.length > 0 ? [`${countOf(failed.length, 'run')} that could not be deleted`] : []),
    ...(left > 0 ? [`${countOf(left, 'run')} that changed meanwhile`] : []),
  ];
  return kept.length === 0 ? 'no run is left; the rest is the store itself' : `kept: ${kept.join(', ')}`;
}

/** Opens the store read-only, because a dry run deletes nothing. */
async function openForPlanning(file: string): Promise<CollectableStore & Pick<TrajectoryStore, 'close'>> {
  const store = await openReadableStore(file);
  return {
    listRuns: (query) => store.listRuns(query),
    findRun: (runId) => store.findRun(runId),
    sizeOf: () => store.sizeOf(),
    deleteRun: async () => false,
    close: () => store.close(),
  };
}

/** Without options, the default size is the limit: the command needs it after the deletion. */
function limitsOf({ maxSize, olderThan }: GcCommandOptions): Pick<GcOptions, 'maxBytes' | 'olderThanMs'> {
  if (maxSize === undefined && olderThan === undefined) return { maxBytes: DEFAULT_MAX_STORE_BYTES };
  const olderThanMs = olderThan === undefined ? undefined : spanOption('--older-than', olderThan, '30d, 12h or 2w');
  const maxBytes = maxSize === undefined ? undefined : parseBytes(maxSize);
  if (maxSize !== undefined && maxBytes === undefined) {
    throw invalidArgument(`--max-size ${maxSize}: give bytes with a unit, such as 500MB, 2GB or 1GiB`);
  }
  return present({ olderThanMs, maxBytes });
}

function rowText(
  { bytes, lastAtMs, reason, records, runId }: CollectedRun,
  isDryRun: boolean,
  terminal: Terminal,
): string {
  const facts = [
    ...(lastAtMs > 0 ? [timeText(lastAtMs)] : []),
    countOf(records, 'record'),
    bytesText(bytes),
    reason === 'age' ? 'too old' : 'for size',
  ];
  const done = isDryRun ? 'would delete' : 'deleted';
  return `${done} ${terminal.paint('bold', printableCut(runId, 80))}  ${facts.join('  ')}\n`;
}

interface Totals {
  readonly runs: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly dryRun: boolean;
}

function totalsText(file: string, { bytesAfter, bytesBefore, dryRun, runs }: Totals): string {
  const size = bytesText(bytesAfter);
  if (runs === 0) return `${shownStore(file)}: nothing to delete; ${size} in use`;
  const done = dryRun ? 'would be deleted' : 'deleted';
  return `${shownStore(file)}: ${countOf(runs, 'run')} ${done}; ${bytesText(bytesBefore)} in use before, ${size} after`;
}
