import { present } from '../../../base/present.ts';
import type { RunSummary } from '../../../store/run-summary.ts';
import { limitOf } from '../../terminal/limit-of.ts';
import { countOf, durationText } from '../../terminal/number-text.ts';
import { openReadableStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine, printableCut } from '../../terminal/printable.ts';
import { runTree, type RunBranch } from '../../runs/run-tree.ts';
import { outcomeText } from '../../runs/run-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain runs`, as the command line gives them. */
export interface RunsOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly limit?: string;
  readonly after?: string;
}

/**
 * `coxswain runs`: one page of what a store holds, the run that started last first.
 *
 * @returns the exit code
 * @throws CoxswainError `invalid-argument`, `input-io` without a store, and as the store
 */
export async function runsCommand(options: RunsOptions, terminal: Terminal): Promise<number> {
  const limit = limitOf(options.limit);
  const store = await openReadableStore(storeNamed(options.store));
  try {
    const { runs, next } = await store.listRuns({
      limit,
      ...present({ after: options.after }),
    });
    if (options.json === true) for (const run of runs) await terminal.write(jsonLine(listed(run)));
    else for (const branch of runTree(runs)) await terminal.write(rowText(branch, terminal));
    if (runs.length === 0 && options.json !== true) await terminal.write('no runs recorded\n');
    if (next !== undefined) terminal.complain(`coxswain: more runs follow: --after ${next}`);
    return 0;
  } finally {
    await store.close();
  }
}

/** What is open is how a store joins later results: of no use to a reader. */
function listed({ openCalls: _openCalls, ...run }: RunSummary): Omit<RunSummary, 'openCalls'> {
  return run;
}

function rowText({ level, run }: RunBranch, { paint }: Terminal): string {
  const { agentName, calls, conversationId, errors, startedAtMs, lastAtMs, outcome, success, reward, task, problem } =
    run;
  const facts = [
    ...(agentName === undefined ? [] : [printableCut(agentName, 40)]),
    ...(startedAtMs > 0 ? [new Date(startedAtMs).toISOString().slice(0, 19)] : []),
    countOf(calls, 'call'),
    countOf(errors, 'error'),
    ...(lastAtMs > startedAtMs && startedAtMs > 0 ? [durationText(lastAtMs - startedAtMs)] : []),
    ...(outcome === undefined
      ? []
      : [
          outcomeText({
            outcome,
            ...present({ success, reward }),
          }),
        ]),
  ];
  if (conversationId !== undefined && level === 0) facts.push(`conversation ${printableCut(conversationId, 60)}`);
  const lines = [`${paint('bold', printableCut(run.runId, 80))}  ${facts.join(', ')}`];
  if (task !== undefined) lines.push(paint('dim', `  ${printableCut(task, 100)}`));
  if (problem !== undefined) lines.push(paint('red', `  ${printableCut(problem, 200)}`));
  return lines.map((line) => `${'  '.repeat(level)}${line}\n`).join('');
}
