import { basename } from 'node:path';

import { invalidArgument } from '../../../core/base/error.ts';
import { present } from '../../../core/base/json.ts';
import type { StoreReader } from '../../../core/store/trajectory-store.ts';
import { limitOf } from '../../terminal/option-values.ts';
import { durationText } from '../../../core/base/number-text.ts';
import { lostAtEnd } from '../../runs/problems.ts';
import { completeProjects } from '../../runs/complete-project.ts';
import { LISTS_SESSIONS, MachineReader, openMachineStores } from '../../runs/machine-stores.ts';
import { openReadableStore, pricesInForce } from '../../runs/open-store.ts';
import { listBlock, styled, type ListItem } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { printableCut, outputLine } from '../../../core/base/printable.ts';
import { titlesOf } from '../../../core/facts/task-title.ts';
import { runTree, type RunBranch } from '../../runs/run-totals.ts';
import { countFacts, outcomeText, usageFacts } from '../../runs/run-blocks.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import type { RunUsage } from '../../../core/facts/usage-fold.ts';
import { timeText } from '../../terminal/time-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface RunsOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly limit?: string;
  readonly after?: string;
  readonly cost?: boolean;
  readonly project?: string;
}

export async function runsCommand(options: RunsOptions, terminal: Terminal): Promise<number> {
  const limit = limitOf(options.limit);
  if (options.store !== undefined && options.project !== undefined)
    throw invalidArgument('give --store or --project, not both: a store that is named has the runs of one project');
  if (options.store === undefined) await completeProjects();
  const store =
    options.store === undefined
      ? await openMachineStores({ project: options.project }, terminal)
      : await openReadableStore(options.store);
  try {
    const { runs, next } = await store.listRuns({ limit, ...present({ after: options.after }) });
    const usages = new Map<string, RunUsage>();
    const projects = new Map<string, string>();
    if (store instanceof MachineReader && store.stores.length > 1)
      for (const { runId } of runs) projects.set(runId, (await store.storeOf(runId))?.project ?? '');
    if (options.cost === true) for (const { runId } of runs) usages.set(runId, await usageOf(store, runId));
    if (options.json === true) {
      for (const { openCalls: _openCalls, ...run } of runs) {
        const project = present({ project: projects.get(run.runId) });
        await terminal.write(outputLine({ ...run, ...project, ...usages.get(run.runId) }));
      }
    } else {
      const lost = lostAtEnd();
      const titles = titlesOf(
        runs.map(({ task }) => task),
        76,
      );
      const items = runTree(runs).map((branch) => {
        const { lostRecords = 0, runId, task = '' } = branch.run;
        const run = { ...branch.run, lostRecords: lostRecords + (lost.get(runId) ?? 0) };
        return runItem(
          { ...branch, run },
          titles.get(task) ?? 'no recorded task',
          usages.get(runId) ?? {},
          projects.get(runId),
        );
      });
      await terminal.write(terminalText({ blocks: [listBlock(items)] }, terminal));
    }
    if (runs.length === 0 && options.json !== true) await terminal.write(`no runs recorded; ${LISTS_SESSIONS}\n`);
    if (next !== undefined) terminal.complain(`coxswain: more runs follow: --after ${next}`);
    return 0;
  } finally {
    await store.close();
  }
}

/** Calculates the usage from the records. Run summaries contain no cost, because prices may change. */
async function usageOf(store: Pick<StoreReader, 'readRun'>, runId: string): Promise<RunUsage> {
  const view = new RunView(present({ prices: pricesInForce() }));
  for await (const record of store.readRun(runId)) view.fold(record);
  return view.usage;
}

function runItem({ level, run }: RunBranch, title: string, usage: RunUsage, project: string | undefined): ListItem {
  const { agentName, conversationId, startedAtMs, lastAtMs, outcome, success, reward, problem } = run;
  const facts = [
    ...(agentName === undefined ? [] : [printableCut(agentName, 40)]),
    ...(startedAtMs > 0 ? [timeText(startedAtMs)] : []),
    ...countFacts(run),
    ...(lastAtMs > startedAtMs && startedAtMs > 0 ? [durationText(lastAtMs - startedAtMs)] : []),
    ...usageFacts(usage),
    ...(outcome === undefined ? [] : [outcomeText({ outcome, ...present({ success, reward }) })]),
  ];
  const isNamed = conversationId !== undefined && conversationId !== run.runId && level === 0;
  const place = project === undefined || level > 0 ? '' : `, project ${printableCut(basename(project), 60)}`;
  const ids = `run ${printableCut(run.runId, 80)}${place}${isNamed ? `, conversation ${printableCut(conversationId, 60)}` : ''}`;
  return {
    level,
    head: styled('strong', title),
    lines: [
      facts.join(', '),
      styled('dim', ids),
      ...(problem === undefined ? [] : [styled('bad', printableCut(problem, 200))]),
    ],
  };
}
