import { present } from '../../../base/present.ts';
import type { RunSummary } from '../../../store/run-summary.ts';
import type { StoreReader } from '../../../store/trajectory-store.ts';
import { limitOf } from '../../terminal/option-values.ts';
import { countOf, durationText } from '../../../base/number-text.ts';
import { lostAtEnd, lostFacts } from '../../runs/lost-records.ts';
import { openReadableStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine, printableCut } from '../../terminal/printable.ts';
import { titlesOf } from '../../runs/run-titles.ts';
import { runTree, type RunBranch } from '../../runs/run-tree.ts';
import { pricesInForce } from '../../runs/prices-in-force.ts';
import { outcomeText, refusedFacts, usageFacts } from '../../runs/run-text.ts';
import { RunView, type RunUsage } from '../../../run-view/run-view.ts';
import { timeText } from '../../terminal/time-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface RunsOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly limit?: string;
  readonly after?: string;
  readonly cost?: boolean;
}

/** Runs `coxswain runs`. @returns the exit code */
export async function runsCommand(options: RunsOptions, terminal: Terminal): Promise<number> {
  const limit = limitOf(options.limit);
  const store = await openReadableStore(storeNamed(options.store));
  try {
    const { runs, next } = await store.listRuns({ limit, ...present({ after: options.after }) });
    const usages = new Map<string, RunUsage>();
    if (options.cost === true) for (const { runId } of runs) usages.set(runId, await usageOf(store, runId));
    if (options.json === true) {
      for (const run of runs) await terminal.write(jsonLine({ ...listedRun(run), ...usages.get(run.runId) }));
    } else {
      const lost = lostAtEnd();
      const titles = titlesOf(
        runs.map(({ task }) => task),
        76,
      );
      for (const branch of runTree(runs)) {
        const { lostRecords = 0, runId, task = '' } = branch.run;
        const title = titles.get(task) ?? 'no recorded task';
        const facts = lostFacts(lostRecords + (lost.get(runId) ?? 0));
        await terminal.write(rowText(branch, { terminal, usage: usages.get(runId) ?? {}, facts, title }));
      }
    }
    if (runs.length === 0 && options.json !== true) await terminal.write('no runs recorded\n');
    if (next !== undefined) terminal.complain(`coxswain: more runs follow: --after ${next}`);
    return 0;
  } finally {
    await store.close();
  }
}

/** Calculates the usage from the records. Run summaries contain no cost, because prices may change. */
async function usageOf(store: StoreReader, runId: string): Promise<RunUsage> {
  const view = new RunView(present({ prices: pricesInForce() }));
  for await (const record of store.readRun(runId)) view.fold(record);
  return view.usage;
}

/** Removes the open calls, which only the store needs. */
function listedRun({ openCalls: _openCalls, ...run }: RunSummary): Omit<RunSummary, 'openCalls'> {
  return run;
}

function rowText(
  { level, run }: RunBranch,
  {
    facts: moreFacts,
    terminal: { paint },
    title,
    usage,
  }: {
    readonly terminal: Terminal;
    readonly usage: RunUsage;
    readonly facts: readonly string[];
    readonly title: string;
  },
): string {
  const {
    agentName,
    calls,
    conversationId,
    errors,
    startedAtMs,
    lastAtMs,
    outcome,
    refused,
    success,
    reward,
    problem,
  } = run;
  const facts = [
    ...(agentName === undefined ? [] : [printableCut(agentName, 40)]),
    ...(startedAtMs > 0 ? [timeText(startedAtMs)] : []),
    countOf(calls, 'call'),
    countOf(errors, 'error'),
    ...refusedFacts(refused),
    ...moreFacts,
    ...(lastAtMs > startedAtMs && startedAtMs > 0 ? [durationText(lastAtMs - startedAtMs)] : []),
    ...usageFacts(usage),
    ...(outcome === undefined ? [] : [outcomeText({ outcome, ...present({ success, reward }) })]),
  ];
  const isNamed = conversationId !== undefined && conversationId !== run.runId && level === 0;
  const ids = `run ${printableCut(run.runId, 80)}${isNamed ? `, conversation ${printableCut(conversationId, 60)}` : ''}`;
  const lines = [paint('bold', title), `  ${facts.join(', ')}`, paint('dim', `  ${ids}`)];
  if (problem !== undefined) lines.push(paint('red', `  ${printableCut(problem, 200)}`));
  return lines.map((line) => `${'  '.repeat(level)}${line}\n`).join('');
}
