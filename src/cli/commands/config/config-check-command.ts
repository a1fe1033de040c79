import { relative } from 'node:path';

import { present } from '../../../base/present.ts';
import { problemText, type ConfigProblem } from '../../../config/config-problem.ts';
import { loadConfig } from '../../../config/load-config.ts';
import type { IgnoredField, LoadedConfig } from '../../../config/loaded-config.ts';
import { refusalError } from '../../../store/records-folder.ts';
import { jsonLine, printable, printableCut } from '../../terminal/printable.ts';
import { steeringRows, steeringText } from './steering-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain config check`, as the command line gives them. */
export interface ConfigCheckOptions {
  readonly json?: boolean;
}

const MESSAGE_CHARS = 500;

/**
 * `coxswain config check`: what is wrong with a configuration, what of it does not count, and what comes of it.
 *
 * @returns the exit code: 1 when something is wrong
 */
export async function configCheckCommand(
  file: string | undefined,
  options: ConfigCheckOptions,
  terminal: Terminal,
): Promise<number> {
  const loaded = await loadConfig({ projectFolder: process.cwd(), explicitPath: file });
  const { problems, ignored, refusal, sources } = loaded;
  const exitCode = problems.length === 0 ? 0 : 1;
  if (options.json === true) {
    await terminal.write(jsonLine(report(loaded)));
    return exitCode;
  }
  for (const problem of problems) terminal.complain(`coxswain: ${problemLine(problem)}`);
  if (refusal !== undefined) terminal.complain(`coxswain: ${printable(refusalError(refusal).message)}`);
  for (const field of ignored) terminal.complain(`coxswain: ${ignoredLine(field)}`);
  if (sources.length === 0 && problems.length === 0) {
    await terminal.write('There is no configuration here: the standard steering holds.\n');
  }
  for (const { file: path, layer, trusted } of sources) {
    const whose =
      layer === 'user'
        ? 'your own'
        : layer === 'explicit'
          ? 'named'
          : trusted
            ? 'of the project, trusted'
            : 'of the project';
    await terminal.write(`${shownPath(path)}: ${whose}\n`);
  }
  const found =
    problems.length === 0
      ? 'nothing is wrong'
      : `${problems.length} ${problems.length === 1 ? 'field is' : 'fields are'} wrong and as if not there`;
  await terminal.write(`${found}\n\n${steeringText(loaded, terminal)}`);
  return exitCode;
}

/** One problem in a line, its file first. */
function problemLine(problem: ConfigProblem): string {
  const where = problem.file === undefined ? '' : `${shownPath(problem.file)}: `;
  return where + printableCut(problemText(problem), MESSAGE_CHARS);
}

function ignoredLine({ file, path, why }: IgnoredField): string {
  return `${shownPath(file)}: ${path === '' ? '' : `${printableCut(path, 200)}: `}does not count: ${printableCut(why, MESSAGE_CHARS)}`;
}

/** A path below this folder without the folder. */
function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return printable(near === '' || near.startsWith('..') ? path : near);
}

function report({ sources, problems, ignored, refusal, resolved }: LoadedConfig): unknown {
  const { steering: _steering, redaction: _redaction, ...rest } = resolved;
  return {
    sources,
    problems,
    ignored,
    ...present({ refusal }),
    resolved: { ...rest, speakers: steeringRows(resolved) },
  };
}
