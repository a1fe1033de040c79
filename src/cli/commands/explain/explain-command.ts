import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import { CoxswainError } from '../../../base/error.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { openReadableStore, storeNamed } from '../../runs/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import { namedRun } from '../../runs/stored-runs.ts';
import { jsonLine, printable, printableCut } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { ExplainFold } from './explain-fold.ts';
import { explanationText } from './explanation-text.ts';

const ID_CHARS = 80;

/** The options of `coxswain explain`, as the command line gives them. */
export interface ExplainOptions {
  readonly call: string;
  readonly store?: string;
  readonly run?: string;
  readonly json?: boolean;
}

/**
 * `coxswain explain`: how one call of a run was read, and why.
 *
 * @param subject  a file or `-` where no store is named, else a run id or the beginning of one
 * @returns the exit code: 0, or 1 when part of a file could not be read
 * @throws CoxswainError `invalid-argument` without such a call, or when it may be a call of several runs; `input-io` without
 *   such a run, or when the call has no result; as the store or the file
 */
export async function explainCommand(subject: string, options: ExplainOptions, terminal: Terminal): Promise<number> {
  const number = callNumber(options.call);
  const problems = new Problems(terminal);
  const isFile = options.store === undefined && (await namesFile(subject));
  if (!isFile && options.run !== undefined) {
    throw new CoxswainError('invalid-argument', '--run chooses a run of a file; name a run of a store without it');
  }
  const fold = isFile
    ? await foldFile(subject, { number, wanted: options.run, problems })
    : await foldStored(subject, number, options.store);
  problems.endSource();
  const explanation = fold.explanation();
  await terminal.write(options.json === true ? jsonLine(explanation) : explanationText(explanation, terminal.paint));
  return problems.any ? 1 : 0;
}

function callNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && Number.isSafeInteger(number)) return number;
  throw new CoxswainError('invalid-argument', `--call ${printableCut(text, 40)}: give a whole number from 1`);
}

async function namesFile(subject: string): Promise<boolean> {
  if (subject === '-') return true;
  return stat(subject).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function foldStored(wanted: string, number: number, named: string | undefined): Promise<ExplainFold> {
  const address = storeNamed(named);
  const store = await openReadableStore(address);
  try {
    const { runId } = await namedRun(store, wanted, address);
    const fold = new ExplainFold(runId, number);
    for await (const record of store.readRun(runId)) fold.fold(record);
    return fold;
  } finally {
    await store.close();
  }
}

interface FileChoice {
  readonly number: number;
  readonly wanted: string | undefined;
  readonly problems: Problems;
}

/** Folds the run of that id, or the only one whose id begins so; without an id the only run that no other started. */
async function foldFile(path: string, { number, wanted, problems }: FileChoice): Promise<ExplainFold> {
  const folds = new Map<string, ExplainFold>();
  problems.source(path);
  for await (const item of readRuns(importSource(path), { source: path === '-' ? path : resolve(path) })) {
    if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') problems.fault(item.diagnostic);
    if (item.type !== 'record') continue;
    const { id, depth } = item.run;
    if (wanted === undefined ? depth > 0 : !id.startsWith(wanted)) continue;
    let fold = folds.get(id);
    if (fold === undefined) {
      fold = new ExplainFold(id, number);
      folds.set(id, fold);
    }
    fold.fold(item.record);
  }
  const [only] = folds.values();
  const fold = (wanted === undefined ? undefined : folds.get(wanted)) ?? (folds.size === 1 ? only : undefined);
  if (fold !== undefined) return fold;
  const name = printable(path);
  if (only === undefined) {
    const which = wanted === undefined ? 'no run' : `no run ${printableCut(wanted, ID_CHARS)}`;
    throw new CoxswainError('input-io', `${name}: ${which}; list its runs with: coxswain analyze ${name}`);
  }
  const some = [...folds.keys()].slice(0, 3).map((id) => printableCut(id, ID_CHARS));
  const more = folds.size > some.length ? ', …' : '';
  throw new CoxswainError(
    'invalid-argument',
    `${name} has several runs: ${some.join(', ')}${more}; choose one with --run`,
  );
}
