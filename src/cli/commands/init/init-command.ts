import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { present } from '../../../base/present.ts';
import { CoxswainError } from '../../../base/error.ts';
import { parseDuration } from '../../../base/parse-duration.ts';
import {
  applyInit,
  ownHookFile,
  planInit,
  undoInit,
  type InitChange,
  type UndoneFile,
} from '../../../hosts/claude-code/init-claude-code.ts';
import { ignoreFileFor } from '../../../hosts/claude-code/keep-settings-out.ts';
import type { ServeSettings } from '../../../hosts/claude-code/serve-settings.ts';
import type { StateOwner } from '../../../base/state-places.ts';
import { findProject, userFolders } from '../../../config/find-config.ts';
import { trustProject } from '../../../config/trust-project.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { putServer, serverFor, takeServerAway } from './init-server.ts';
import { lineDiff } from '../../terminal/line-diff.ts';
import { printable } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain init`, as the command line gives them. */
export interface InitOptions {
  readonly user?: boolean;
  readonly local?: boolean;
  readonly http?: boolean;
  readonly port?: string;
  readonly project?: string;
  readonly deadline?: string;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/**
 * `coxswain init claude-code`: puts the hook into Claude Code's settings, or takes it out again.
 *
 * @returns the exit code: 1 when it was not answered with yes
 * @throws CoxswainError `invalid-argument` for options or settings that cannot be, `input-io` for files that cannot be read
 *   or written
 */
export async function initCommand(
  target: string | undefined,
  options: InitOptions,
  terminal: Terminal,
): Promise<number> {
  const { user = false, http = false, undo = false } = options;
  const local = options.local === true || http;
  if (target !== undefined && target !== 'claude-code') {
    throw new CoxswainError(
      'invalid-argument',
      `there is nothing to set up for ${printable(target)}; there is: claude-code`,
    );
  }
  if (http && user) {
    throw new CoxswainError('invalid-argument', '--http is about one project, because its server is: without --user');
  }
  if (user && (local || options.project !== undefined)) {
    throw new CoxswainError('invalid-argument', '--user is about your own settings: without --local and --project');
  }
  if (options.port !== undefined && !http) {
    throw new CoxswainError('invalid-argument', '--port is about the server: with --http');
  }
  const project = resolve(options.project ?? '.');
  const { home, config } = userFolders({});
  const settingsFile = user
    ? join(process.env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'settings.json')
    : join(project, '.claude', local ? 'settings.local.json' : 'settings.json');
  const owner: StateOwner = { env: process.env, projectFolder: user ? undefined : project };
  if (undo) {
    const files = undoInit({ owner, settingsFile });
    const server = user ? undefined : await takeServerAway(project);
    return await undone(files, { settingsFile, server }, terminal);
  }

  const hookFile = ownHookFile();
  if (!existsSync(hookFile)) {
    throw new CoxswainError('input-io', `${hookFile} is not there; npm run build makes it`);
  }
  const server = http ? await serverFor(project, options.port) : undefined;
  const ignore = server === undefined ? undefined : ignoreFileFor(settingsFile, project);
  const changes = planInit({
    settingsFile,
    owner,
    node: process.execPath,
    hookFile,
    ...present({ server, ignore }),
    ...configOf(options.deadline, user ? join(config, 'config.json') : configFileOf(project), project),
  });
  return await write(changes, { options, owner, settingsFile, hookFile, project, local, server }, terminal);
}

interface Situation {
  readonly options: InitOptions;
  readonly owner: StateOwner;
  readonly settingsFile: string;
  readonly hookFile: string;
  readonly project: string;
  readonly local: boolean;
  readonly server: ServeSettings | undefined;
}

async function write(changes: readonly InitChange[], situation: Situation, terminal: Terminal): Promise<number> {
  const { options, owner, settingsFile, hookFile, project, local, server } = situation;
  // Nobody should find it in what a terminal showed.
  const shown = (text: string): string =>
    printable(server === undefined ? text : text.replaceAll(server.token, '…the token…'));
  for (const { file, before, after } of changes) {
    await terminal.write(`${before === undefined ? 'new file' : 'change'} ${printable(file)}\n`);
    for (const { sign, text } of lineDiff(before ?? '', after)) {
      const line = `${sign} ${shown(text)}`;
      await terminal.write(
        `${sign === '+' ? terminal.paint('green', line) : sign === '-' ? terminal.paint('red', line) : line}\n`,
      );
    }
  }
  if (changes.length === 0) {
    // What the hooks start may have moved.
    if (server !== undefined && options.dryRun !== true) await putServer(project, server);
    await terminal.write(`${printable(settingsFile)} has the hook already; nothing to change\n`);
    return 0;
  }
  if (/[\\/]_npx[\\/]/.test(hookFile)) {
    terminal.complain(
      'coxswain: this copy was fetched by npx and may vanish; install it first: npm install --save-dev coxswain',
    );
  }
  if (options.dryRun === true) return 0;
  if (options.yes !== true) {
    const answer = await askYesNo('Write this?');
    if (answer === undefined) terminal.complain('coxswain: nothing written; --yes writes without asking');
    if (answer !== true) return 1;
  }
  if (server !== undefined) await putServer(project, server);
  applyInit(changes, { owner });
  // What the user has just asked for counts.
  if (options.user !== true && changes.some(({ file }) => file === configFileOf(project))) trustProject(project);
  if (server === undefined && local) await takeServerAway(project);
  await terminal.write('written. Claude Code sessions that begin from now on are recorded and steered.\n');
  if (server !== undefined) {
    await terminal.write(
      `Their first event starts a server at http://127.0.0.1:${server.port}; look at it with: coxswain serve status\n`,
    );
  }
  if (options.user !== true && !local) {
    await terminal.write(
      'The file names paths of this machine: to keep them out of a shared repository, use --local.\n',
    );
  }
  await terminal.write('Check it with: coxswain doctor    Take it back with: coxswain init --undo\n');
  return 0;
}

const OUTCOMES: Readonly<Record<UndoneFile['outcome'], string>> = {
  restored: 'is as it was before, byte for byte',
  removed: 'is removed: there was none before',
  edited: 'has changed since, so only the hooks of coxswain were taken out',
  kept: 'has changed since and holds nothing of coxswain; left as it is',
};

async function undone(
  files: readonly UndoneFile[],
  { settingsFile, server }: { readonly settingsFile: string; readonly server: string | undefined },
  terminal: Terminal,
): Promise<number> {
  if (server !== undefined) await terminal.write(`${server}\n`);
  for (const { file, outcome } of files) await terminal.write(`${printable(file)} ${OUTCOMES[outcome]}\n`);
  if (files.length === 0)
    await terminal.write(`${printable(settingsFile)} holds nothing of coxswain; nothing to undo\n`);
  return 0;
}

function configFileOf(project: string): string {
  return join(project, 'coxswain.config.json');
}

/** A configuration with the deadline, unless one is there: that is its owner's. */
function configOf(
  deadline: string | undefined,
  file: string,
  project: string,
): { readonly config?: { readonly file: string; readonly text: string } } {
  if (deadline === undefined) return {};
  if (parseDuration(deadline) === undefined) {
    throw new CoxswainError(
      'invalid-argument',
      `--deadline is ${JSON.stringify(deadline)}; give a span such as 45m or 1h30m`,
    );
  }
  const found = file.startsWith(project) ? findProject(project).files[0] : existsSync(file) ? file : undefined;
  if (found !== undefined) {
    throw new CoxswainError(
      'invalid-argument',
      `there is a configuration already: set "deadline": ${JSON.stringify(deadline)} in ${found}`,
    );
  }
  return { config: { file, text: `${JSON.stringify({ deadline }, undefined, 2)}\n` } };
}
