import { relative } from 'node:path';

import { countOf } from '../../../core/base/number-text.ts';
import { problemText, type ConfigProblem } from '../../../hosts/config/config-problem.ts';
import { loadConfig } from '../../../hosts/config/load-config.ts';
import { untrustedText, type LoadedConfig } from '../../../hosts/config/loaded-config.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import { steeringRows, steeringText } from './steering-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface ConfigCheckOptions {
  readonly json?: boolean;
}

const MESSAGE_CHARS = 500;

/** Runs `coxswain config check`. @returns the exit code: 1 if there are errors */
export async function configCheckCommand(
  file: string | undefined,
  options: ConfigCheckOptions,
  terminal: Terminal,
): Promise<number> {
  const loadedConfig = await loadConfig({ projectFolder: process.cwd(), explicitPath: file });
  const { problems, sources } = loadedConfig;
  const ignored = untrustedText(loadedConfig);
  const exitCode = problems.length === 0 ? 0 : 1;
  if (options.json === true) {
    await terminal.write(jsonLine(jsonReport(loadedConfig)));
    return exitCode;
  }
  for (const problem of problems) terminal.complain(`coxswain: ${problemLine(problem)}`);
  if (ignored !== undefined) terminal.complain(`coxswain: ${printable(ignored)}`);
  if (sources.length === 0 && ignored === undefined && problems.length === 0) {
    await terminal.write('There is no configuration here: the standard steering applies.\n');
  }
  for (const { file: path, layer } of sources) {
    const owner = { user: 'your own', explicit: 'named', project: 'of the project, trusted' }[layer];
    await terminal.write(`${shownPath(path)}: ${owner}\n`);
  }
  const summary = problems.length === 0 ? 'no errors' : `${countOf(problems.length, 'field')} wrong and ignored`;
  await terminal.write(`${summary}\n\n${steeringText(loadedConfig, terminal)}`);
  return exitCode;
}

function problemLine(problem: ConfigProblem): string {
  const location = problem.file === undefined ? '' : `${shownPath(problem.file)}: `;
  return location + printableCut(problemText(problem), MESSAGE_CHARS);
}

/** Returns a path relative to the working folder if the path is inside it. */
function shownPath(path: string): string {
  const relativePath = relative(process.cwd(), path);
  return printable(relativePath === '' || relativePath.startsWith('..') ? path : relativePath);
}

function jsonReport({ sources, problems, untrusted, resolved }: LoadedConfig): unknown {
  const { steering: _steering, redaction: _redaction, ...rest } = resolved;
  return {
    sources,
    problems,
    untrusted,
    resolved: { ...rest, speakers: steeringRows(resolved) },
  };
}
