import { writeFile } from 'node:fs/promises';

import { CoxswainError, messageOf } from '../../../base/error.ts';
import { checkOutput } from '../../../base/guarded-file.ts';
import { parseDuration } from '../../../base/parse-duration.ts';
import { projectFolderOf } from '../../../hosts/claude-code/project-folder.ts';
import { loadConfigSync } from '../../../config/load-config.ts';
import { durationText } from '../../terminal/number-text.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import { storeKindAt } from '../../../store/registry/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import { NightReport, type ReportFrame } from './night-report.ts';
import type { FoundRun, Moment } from './night-run.ts';
import { reportHtml } from './report-html.ts';
import { runsOfStore, runsOfTranscripts } from './report-source.ts';
import { reportText } from './report-text.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { spillNote } from '../../runs/spill-note.ts';
import { allRuns } from '../../runs/stored-runs.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain report`, as the command line gives them. */
export interface ReportOptions {
  readonly since?: string;
  readonly json?: boolean;
  readonly html?: string;
}

/** A night: how far back a report of a store goes where nothing is said. */
const DEFAULT_SINCE_MS = 12 * 3_600_000;

/**
 * `coxswain report`: what the agents did: runs and how they ended, what they took, patterns, advice and what came of it, faults,
 * and the moments most worth a look. Of a store, or of transcripts; default the store of this project.
 *
 * @returns the exit code: 1 when something could not be read
 * @throws CoxswainError `invalid-argument`, `input-io` without a store, and as the store
 */
export async function reportCommand(
  paths: readonly string[],
  options: ReportOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.json === true && options.html !== undefined) throw invalid('give --json or --html, not both');
  const untilMs = Date.now();
  const [path = projectStore()] = paths;
  const ofStore = paths.length === 0 || (paths.length === 1 && (await storeKindAt(path)) !== undefined);
  const sinceMs = sinceOf(options.since, untilMs, ofStore);
  const problems = new Problems(terminal);
  const frame: ReportFrame = { from: ofStore ? shownStore(path) : paths.join(', '), sinceMs, untilMs };
  const write = (report: NightReport): Promise<void> => writeReport(report, frame, { options, terminal });
  if (!ofStore) {
    const runs = runsOfTranscripts(paths, { problems, sinceMs });
    const commandOf = (_moment: Moment, source: string): string =>
      `coxswain analyze ${shellWord(source.replace(/#[^#]*$/, ''))}`;
    await write(await addedUp(runs, commandOf, options, terminal));
    return problems.any ? 1 : 0;
  }
  const store = await openReadableStore(path);
  try {
    const commandOf = ({ runId }: Moment): string =>
      `coxswain show ${shellWord(runId)} --store ${shellWord(shownStore(path))}`;
    const runs = readable(runsOfStore(store, sinceMs), problems, shownStore(path));
    const report = await addedUp(runs, commandOf, options, terminal);
    await write(report);
    const { unusable, waiting } = spillNote(path);
    for (const note of [waiting, unusable]) if (note !== undefined) terminal.complain(`coxswain: ${printable(note)}`);
    if (report.count === 0) {
      for await (const { lastAtMs } of allRuns(store)) {
        const ago = durationText(Math.max(0, untilMs - lastAtMs));
        terminal.complain(`coxswain: the run that started last was at work ${ago} ago: --since all looks further back`);
        break;
      }
    }
    return problems.any ? 1 : 0;
  } finally {
    await store.close();
  }
}

/** Adds runs up; with `--json` each is printed when it was read. */
async function addedUp(
  runs: AsyncIterable<FoundRun>,
  commandOf: (moment: Moment, source: string) => string,
  { json }: ReportOptions,
  terminal: Terminal,
): Promise<NightReport> {
  const report = new NightReport(commandOf);
  for await (const found of runs) {
    report.add(found);
    if (json === true) await terminal.write(jsonLine({ ...found.run, moments: found.moments }));
  }
  return report;
}

async function* readable(runs: AsyncIterable<FoundRun>, problems: Problems, path: string): AsyncGenerator<FoundRun> {
  problems.source(path);
  for await (const found of runs) {
    const { id, problem } = found.run;
    if (problem !== undefined) problems.fault({ message: `run ${id}: ${problem}` });
    yield found;
  }
  problems.endSource();
}

async function writeReport(
  report: NightReport,
  frame: ReportFrame,
  { options, terminal }: { readonly options: ReportOptions; readonly terminal: Terminal },
): Promise<void> {
  if (options.json === true) return terminal.write(jsonLine(report.toJson(frame)));
  if (options.html === undefined) return terminal.write(reportText(report, frame, terminal.paint));
  try {
    checkOutput(options.html);
    await writeFile(options.html, reportHtml(report, frame), { mode: 0o600 });
  } catch (error) {
    throw new CoxswainError('input-io', `${options.html} cannot be written: ${messageOf(error)}`, { cause: error });
  }
  return terminal.write(`${printable(options.html)}: written\n`);
}

function projectStore(): string {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  return loadConfigSync({ projectFolder, env }).resolved.store.address;
}

function sinceOf(text: string | undefined, nowMs: number, ofStore: boolean): number {
  if (text === undefined) return ofStore ? nowMs - DEFAULT_SINCE_MS : 0;
  const span = text === 'all' ? nowMs : parseDuration(text);
  if (span === undefined) throw invalid(`--since ${text}: give a span such as 12h, 90m or 7d, or all`);
  return Math.max(0, nowMs - span);
}

function invalid(message: string): CoxswainError {
  return new CoxswainError('invalid-argument', message);
}
