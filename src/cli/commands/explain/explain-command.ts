import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import { CoxswainError, invalidArgument } from '../../../base/error.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { openReadableStore, storeNamed } from '../../runs/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import { secretRemover } from '../../runs/shown-records.ts';
import { namedRun } from '../../runs/named-run.ts';
import { wholeOption } from '../../terminal/option-values.ts';
import { jsonLine, printable, printableCut } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { ExplainFold } from './explain-fold.ts';
import { explanationText } from './explanation-text.ts';

const ID_CHARS = 80;

export interface ExplainOptions {
  readonly call: string;
  readonly store?: string;
  readonly run?: string;
  readonly json?: boolean;
}

/**
 * Runs `coxswain explain`: shows how one call of a run was classified, and why.
 *
 * @param subject  a file or `-`; with `--store`, a run id or its beginning
 * @returns the exit code: 1 if part of a file could not be read
 * @throws CoxswainError `invalid-argument` if the call does not exist or several runs match; `input-io` if the run does not exist
 *   or the call has no result; the errors of the store or the file
 */
export async function explainCommand(subject: string, options: ExplainOptions, terminal: Terminal): Promise<number> {
  const number = wholeOption('--call', options.call, [1, Number.MAX_SAFE_INTEGER]);
  const problems = new Problems(terminal);
  const isFile = options.store === undefined && namesFile(subject);
  if (!isFile && options.run !== undefined) {
    throw invalidArgument('--run selects a run of a file; name a run of a store without it');
  }
  const fold = isFile
    ? await foldFile(subject, { number, idStart: options.run, problems })
    : await foldStored(subject, number, options.store);
  problems.endSource();
  const explanation = fold.explanation();
  await terminal.write(options.json === true ? jsonLine(explanation) : explanationText(explanation, terminal.paint));
  return problems.any ? 1 : 0;
}

function namesFile(subject: string): boolean {
  return subject === '-' || statSync(subject, { throwIfNoEntry: false })?.isFile() === true;
}

async function foldStored(idStart: string, number: number, option: string | undefined): Promise<ExplainFold> {
  const address = storeNamed(option);
  const store = await openReadableStore(address);
  try {
    const { runId } = await namedRun(store, idStart, address);
    const fold = new ExplainFold(runId, number);
    for await (const record of store.readRun(runId)) fold.fold(record);
    return fold;
  } finally {
    await store.close();
  }
}

interface FileChoice {
  readonly number: number;
  readonly idStart: string | undefined;
  readonly problems: Problems;
}

/** Folds the run with this id, or the only run whose id starts with it. Without an id: the only run that is not a subagent. */
async function foldFile(path: string, { number, idStart, problems }: FileChoice): Promise<ExplainFold> {
  const folds = new Map<string, ExplainFold>();
  const withoutSecrets = secretRemover();
  problems.source(path);
  for await (const item of readRuns(importSource(path), { source: path === '-' ? path : resolve(path) })) {
    if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') problems.fault(item.diagnostic);
    if (item.type !== 'record') continue;
    const { id, depth } = item.run;
    if (idStart === undefined ? depth > 0 : !id.startsWith(idStart)) continue;
    const fold = folds.get(id) ?? new ExplainFold(id, number);
    folds.set(id, fold);
    fold.fold(withoutSecrets(item.record));
  }
  const [only] = folds.values();
  const fold = (idStart === undefined ? undefined : folds.get(idStart)) ?? (folds.size === 1 ? only : undefined);
  if (fold !== undefined) return fold;
  const name = printable(path);
  if (only === undefined) {
    const runText = idStart === undefined ? 'no run' : `no run ${printableCut(idStart, ID_CHARS)}`;
    throw new CoxswainError('input-io', `${name}: ${runText}; list its runs with: coxswain analyze ${name}`);
  }
  const exampleIds = [...folds.keys()].slice(0, 3).map((id) => printableCut(id, ID_CHARS));
  const ellipsis = folds.size > exampleIds.length ? ', …' : '';
  throw invalidArgument(`${name} has several runs: ${exampleIds.join(', ')}${ellipsis}; choose one with --run`);
}
