import { spanOption } from '../../terminal/option-values.ts';
import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';

import { present } from '../../../core/base/json.ts';
import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { hostFolder, hostTitle } from '../../../formats/find-sessions.ts';
import { findClaude, FIRST_WITH_BATCHES } from '../../../hosts/claude-code/claude-version.ts';
import { HOST_PLACES, installedHosts } from '../../../hosts/claude-code/host-places.ts';
import {
  applyInit,
  keepBackup,
  ownHookFile,
  planInit,
  filesToUndo,
  undoInit,
  type InitChange,
  type UndoneFile,
} from '../../../hosts/claude-code/init-claude-code.ts';
import { HOOK_MARK, hookCommand, needsOf, type HookNeeds } from '../../../hosts/claude-code/init-hooks.ts';
import { ignoreFileFor } from '../../../hosts/claude-code/keep-settings-out.ts';
import { codexHooks } from '../../../hosts/claude-code/trust-codex-hooks.ts';
import { findFile } from '../../../core/node/guarded-file.ts';
import { HOSTS, type HostName } from '../../../hosts/dialects/hook-dialect.ts';
import { cacheRoot, dataRoot, stateRoot, type StateOwner } from '../../../core/node/state-places.ts';
import { shellWord } from '../../terminal/time-text.ts';
import { findProject, userFolders } from '../../../hosts/config/find-config.ts';
import { loadConfigSync } from '../../../hosts/config/load-config.ts';
import { trustProject } from '../../../hosts/config/trust-project.ts';
import { askYesNo, type Terminal } from '../../terminal/terminal.ts';
import { lineDiff } from '../../../core/base/line-diff.ts';
import {
  installWatchService,
  removeWatchService,
  watchServiceFile,
  requireTargets,
  watchService,
} from '../watch/watch-service.ts';
import { folderLines } from '../doctor/check-hosts.ts';
import { printable, printableCut } from '../../../core/base/printable.ts';
import { nearestName } from '../../../core/base/check-members.ts';

export interface InitOptions {
  readonly user?: boolean;
  readonly shared?: boolean;
  readonly project?: string;
  readonly deadline?: string;
  readonly undo?: boolean;
  readonly watch?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** @param targets  some of `HOSTS`; default: the installed agent programs, or Claude Code if none is installed */
export async function initCommand(
  targets: readonly string[],
  options: InitOptions,
  terminal: Terminal,
): Promise<number> {
  let code = 0;
  for (const target of targets.length === 0 ? [undefined] : targets)
    code = Math.max(code, await initTarget(target, options, terminal));
  return code;
}

async function initTarget(target: string | undefined, options: InitOptions, terminal: Terminal): Promise<number> {
  const { user = false, undo = false, shared = false } = options;
  const namedHost = HOSTS.find((host) => host === target);
  const { home, config } = userFolders({});
  const places = { homeFolder: home, env: process.env };
  if (target !== undefined && namedHost === undefined) {
    const near = nearestName(target, HOSTS);
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
    throw invalidArgument(`unknown target ${printableCut(target, 80)}${hint}; choose one of ${HOSTS.join(', ')}`);
  }
  checkOptions(options, namedHost);
  if (options.watch === true && !undo) return await addWatch(options, terminal);
  const chosenHosts = namedHost !== undefined ? [namedHost] : shared ? [] : installedHosts(places);
  const hosts: readonly HostName[] = chosenHosts.length === 0 ? ['claude-code'] : chosenHosts;
  const project = resolve(options.project ?? '.');
  if (target === undefined && !undo && !shared) await tellOthers(chosenHosts, terminal);
  const projectFolder = user ? undefined : project;
  const owner: StateOwner = { env: process.env, projectFolder };
  const filesOf = (host: HostName): readonly [string, ...string[]] => {
    const file = HOST_PLACES[host].settingsFile({ ...places, projectFolder });
    if (host !== 'claude-code' || user) return [file];
    const localSettings = join(dirname(file), 'settings.local.json');
    // A committed file should not contain absolute paths, unless it already contains the hook.
    return shared || hasHook(file) ? [file, localSettings] : [localSettings, file];
  };
  const fileOf = (host: HostName): string => filesOf(host)[0];
  if (undo) {
    const undoHosts = namedHost === undefined ? HOSTS : hosts;
    const settingsFiles = undoHosts.flatMap(filesOf);
    if (options.dryRun === true) {
      const service = namedHost === undefined ? watchServiceFile() : undefined;
      const changed = options.watch === true ? [] : filesToUndo(owner, settingsFiles.filter(hasHook), namedHost);
      if (service !== undefined)
        await terminal.write(`${printable(service)} would be removed, and its watch would end\n`);
      for (const file of changed)
        await terminal.write(`${printable(file)} would be as it was before, without the hook\n`);
      if (service === undefined && changed.length === 0)
        await terminal.write('nothing of coxswain is found; nothing to undo\n');
      return 0;
    }
    const watch = namedHost === undefined ? await removeWatchService() : undefined;
    if (watch !== undefined)
      await terminal.write(
        `${printable(watch.file)} ${watch.isRemoved ? 'is removed, and the watch has ended' : 'was changed since, and stays'}\n`,
      );
    if (options.watch === true) return 0;
    const files = undoInit(owner, settingsFiles, namedHost);
    const userFile = undoHosts
      .map((host) => HOST_PLACES[host].settingsFile(places))
      .find((file) => !user && hasHook(file));
    const settingsFile = fileOf(hosts[0] ?? 'claude-code');
    return await reportUndone(files, settingsFile, userFile, terminal);
  }

  const hookFile = ownHookFile();
  if (!existsSync(hookFile)) {
    throw new CoxswainError('input-io', `${hookFile} does not exist; npm run build creates it`);
  }
  const claude = hosts.includes('claude-code') ? await findClaude(home, process.env) : undefined;
  const loaded = loadConfigSync({ projectFolder: user ? config : project, env: process.env });
  const needs = needsOf(claude?.version, loaded);
  let ignored: string | undefined;
  const changes = hosts.flatMap((host, at) => {
    const settingsFile = fileOf(host);
    // A file that coxswain alone uses, or that is of this machine. Others may be committed.
    const isOwn = isLocal(settingsFile) || (findFile(settingsFile) === undefined && EXCLUDED.has(host));
    const ignore = user || !isOwn ? undefined : ignoreFileFor(settingsFile, project, ignored);
    ignored = ignore?.text ?? ignored;
    return planInit({
      host,
      settingsFile,
      owner,
      edit: (text) => HOST_PLACES[host].edit(text, { node: process.execPath, hookFile }, needs),
      ...present({ ignore }),
      ...(at === 0
        ? configOf(options.deadline, user ? join(config, 'config.json') : configFileOf(project), project)
        : {}),
    });
  });
  const setNote = hosts.includes('claude-code') ? setNoteOf(claude?.version ?? '', needs) : '';
  return await writeChanges(changes, { options, owner, hosts, fileOf, hookFile, project, setNote }, terminal);
}

/** By the names of their programs, where these differ from those of the hosts. */
const PROGRAMS: Partial<Record<HostName, string>> = { 'claude-code': 'claude', 'qwen-code': 'qwen' };

/** Names what is set up without a sign of it, and what is not although its program is there. */
async function tellOthers(installed: readonly HostName[], terminal: Terminal): Promise<void> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const isThere = (host: HostName): boolean =>
    ['', '.exe', '.cmd'].some((end) =>
      folders.some((folder) => existsSync(join(folder, `${PROGRAMS[host] ?? host}${end}`))),
    );
  const others = HOSTS.filter((host) => !installed.includes(host) && isThere(host));
  const isClaude = installed.length === 0 && others.includes('claude-code');
  const left = others.filter((host) => installed.length > 0 || host !== 'claude-code');
  if (installed.length === 0 && !isClaude)
    await terminal.write('No agent program is found; this sets up Claude Code.\n');
  if (left.length > 0)
    await terminal.write(
      `Left out, because ${left.length === 1 ? 'it has' : 'they have'} no settings yet: ${left.map(hostTitle).join(', ')}. To add: coxswain init ${left.join(' ')}\n`,
    );
}

/** Lets the watch in the background start when the user logs in. */
async function addWatch({ dryRun, yes }: InitOptions, terminal: Terminal): Promise<number> {
  await requireTargets(terminal);
  const service = watchService();
  await terminal.write(
    `${printable(service.file)} starts coxswain watch --background when you log in${dryRun === true ? `:\n${service.text}` : '\n'}`,
  );
  if (dryRun === true) return 0;
  if (yes !== true && (await askYesNo('Write and start it?')) !== true) {
    await terminal.write('nothing was changed; --yes does not ask\n');
    return 0;
  }
  const toRun = await installWatchService(service);
  if (toRun === undefined) await terminal.write('it runs; coxswain init --undo --watch removes it\n');
  else terminal.complain(`coxswain: the file is written, and it did not start; run: ${toRun}`);
  return toRun === undefined ? 0 : 1;
}

function checkOptions({ project, shared, user }: InitOptions, namedHost: HostName | undefined): void {
  const refuse = (message: string): never => {
    throw invalidArgument(message);
  };
  if (shared && namedHost !== undefined && namedHost !== 'claude-code') refuse('--shared applies to Claude Code only');
  if (user && (shared || project !== undefined)) {
    refuse('--user changes your own settings; omit --shared and --project');
  }
}

function setNoteOf(version: string, { guidesBeforeCalls, hasBatches }: HookNeeds): string {
  if (!hasBatches) {
    return (
      `Claude Code ${printable(version)} has no event after a turn, so each call starts two or three hook processes. ` +
      `After an update to ${FIRST_WITH_BATCHES} or later, run init again: one process a turn is then enough.\n`
    );
  }
  return guidesBeforeCalls
    ? 'Guidance for pre_tool_execution is configured, so each call starts a hook process.\n'
    : '';
}

interface Situation {
  readonly setNote: string;
  readonly options: InitOptions;
  readonly owner: StateOwner;
  readonly hosts: readonly HostName[];
  readonly fileOf: (host: HostName) => string;
  readonly hookFile: string;
  readonly project: string;
}

async function writeChanges(changes: readonly InitChange[], situation: Situation, terminal: Terminal): Promise<number> {
  const { options, owner, hosts, fileOf, hookFile, project, setNote } = situation;
  for (const { file, before, after } of options.dryRun === true ? changes : []) {
    await terminal.write(`${before === undefined ? 'new file' : 'change'} ${printable(file)}\n`);
    for (const { sign, text } of lineDiff(before ?? '', after)) {
      const line = `${sign} ${printable(text)}`;
      await terminal.write(
        `${sign === '+' ? terminal.paint('green', line) : sign === '-' ? terminal.paint('red', line) : line}\n`,
      );
    }
  }
  if (changes.length === 0) {
    for (const host of hosts)
      await terminal.write(`${printable(fileOf(host))} already has the hook; nothing to change\n`);
    await tellTrust(situation, terminal);
    if (hosts.includes('codex') && options.dryRun !== true) await trustInCodex(project, { owner, hookFile }, terminal);
    return 0;
  }
  if (/[\\/]_npx[\\/]/.test(hookFile)) {
    terminal.complain(
      'coxswain: npx fetched this copy and may delete it; install it first: npm install --save-dev coxswain',
    );
  }
  if (options.dryRun === true) return 0;
  const titles = hosts.map(hostTitle).join(', ');
  await terminal.write(
    `Changes ${changes.map(({ file }) => printable(shownFile(file, project))).join(', ')} to add the hook of coxswain.\n` +
      'Other settings stay; coxswain init --dry-run shows every line, coxswain init --undo restores the files.\n',
  );
  if (options.yes !== true) {
    const trusts = hosts.includes('codex') ? ' This also makes Codex trust the hook.' : '';
    const answer = await askYesNo(`Write this for ${titles}?${trusts}`);
    if (answer === undefined) {
      terminal.complain('coxswain: nothing written; repeat the command with --yes to write without asking');
    }
    if (answer !== true) return 1;
  }
  applyInit(changes, { owner });
  // The user requested this configuration, so the project is trusted.
  if (options.user !== true && changes.some(({ file }) => file === configFileOf(project))) trustProject(project);
  const others = hosts.filter((host) => host !== 'codex').map(hostTitle);
  await terminal.write(
    others.length === 0
      ? 'Written; coxswain doctor checks it.\n'
      : `Written. New sessions of ${others.join(', ')} are recorded and steered; coxswain doctor checks it.\n`,
  );
  if (setNote !== '') await terminal.write(setNote);
  await tellTrust(situation, terminal);
  if (hosts.includes('codex')) await trustInCodex(project, { owner, hookFile }, terminal);
  const ignored = changes.findLast(({ file }) => basename(file) === 'exclude')?.after ?? '';
  const isIgnored = (file: string): boolean => isLocal(file) || ignored.includes(`/${shownFile(file, project)}\n`);
  const committedFiles = options.user === true ? [] : hosts.map(fileOf).filter((file) => !isIgnored(file));
  if (committedFiles.length > 0) {
    const files = committedFiles.map((file) => printable(shownFile(file, project))).join(', ');
    await terminal.write(
      `${files}: contains paths of this machine; to keep them out of a shared repository, use --user.\n`,
    );
  }
  return 0;
}

async function tellTrust({ hosts, options, project }: Situation, terminal: Terminal): Promise<void> {
  if (options.user === true) return;
  const places = { env: process.env, homeFolder: userFolders({}).home, projectFolder: project };
  for (const { found, fix, status } of hosts.flatMap((host) => folderLines(host, places)))
    if (status !== 'pass') await terminal.write(`${found}. ${fix}\n`);
}

/** Makes Codex trust the hook, because Codex ignores hooks without trust. Can also be undone. */
async function trustInCodex(
  project: string,
  { owner, hookFile }: Pick<Situation, 'owner' | 'hookFile'>,
  terminal: Terminal,
): Promise<void> {
  const file = join(hostFolder('codex', { home: userFolders({}).home, env: process.env }), 'config.toml');
  const bytesBefore = findFile(file)?.bytes;
  const command = hookCommand(process.execPath, hookFile);
  const hooks = await codexHooks(project, process.env, command, true);
  keepBackup({ file, before: bytesBefore, host: 'codex' }, owner);
  const isTrusted = typeof hooks !== 'string' && hooks.length > 0 && hooks.every((hook) => hook.isTrusted);
  if (isTrusted)
    return await terminal.write(
      `Codex trusts the hook (${printable(file)}): its new sessions are recorded and steered.\n`,
    );
  const reason =
    typeof hooks === 'string'
      ? hooks
      : hooks.length === 0
        ? 'it ignores the hooks of untrusted projects; start codex there once, or use --user'
        : 'it did not store the trust';
  terminal.complain(
    `coxswain: Codex does not run the hook yet: ${printable(reason)}. Then run coxswain init codex again, or trust it there with /hooks.`,
  );
}

const OUTCOMES: Readonly<Record<UndoneFile['outcome'], string>> = {
  restored: 'is restored byte for byte',
  removed: 'is removed: it did not exist before',
  edited: 'has changed since, so only the hooks of coxswain were removed',
  kept: 'has changed since and has no hooks of coxswain; unchanged',
  gone: 'is deleted already',
};

async function reportUndone(
  files: readonly UndoneFile[],
  settingsFile: string,
  userFile: string | undefined,
  terminal: Terminal,
): Promise<number> {
  for (const { file, outcome } of files) await terminal.write(`${printable(file)} ${OUTCOMES[outcome]}\n`);
  if (files.length === 0)
    await terminal.write(`${printable(settingsFile)} has no hooks of coxswain; nothing to undo\n`);
  if (userFile !== undefined)
    await terminal.write(
      `${printable(userFile)} has hooks for all projects; coxswain init --undo --user removes them\n`,
    );
  await tellKept(terminal);
  return 0;
}

/** Says what an undo leaves, of all projects, and how to delete it. */
async function tellKept(terminal: Terminal): Promise<void> {
  const { env } = process;
  const folders = [
    ['records', dataRoot({ env })],
    ['state', stateRoot({ env })],
    ['caches', cacheRoot({ env })],
  ] as const;
  const kept = folders.filter(([, folder]) => existsSync(folder));
  if (kept.length > 0)
    await terminal.write(
      `These stay, with what all projects have there: ${kept.map(([name, folder]) => `${name} in ${printable(folder)}`).join(', ')}; so does a store that a configuration names.\n` +
        `To delete them, once no project uses coxswain: rm -r ${kept.map(([, folder]) => printable(shellWord(folder))).join(' ')}\n`,
    );
}

/** Hosts for which `init` makes a file of its own in the project, that only coxswain uses. */
const EXCLUDED: ReadonlySet<HostName> = new Set(['codex', 'opencode', 'pi']);

function isLocal(file: string): boolean {
  return file.endsWith('settings.local.json');
}

function hasHook(file: string): boolean {
  return findFile(file)?.bytes.includes(HOOK_MARK) === true;
}

function shownFile(file: string, project: string): string {
  const insidePath = relative(project, file);
  return insidePath.startsWith('..') ? file : insidePath;
}

function configFileOf(project: string): string {
  return join(project, 'coxswain.config.json');
}

function configOf(
  deadline: string | undefined,
  file: string,
  project: string,
): { readonly config?: { readonly file: string; readonly text: string } } {
  if (deadline === undefined) return {};
  spanOption('--deadline', deadline, '45m or 1h30m');
  const foundFile = file.startsWith(project) ? findProject(project).files[0] : existsSync(file) ? file : undefined;
  if (foundFile !== undefined) {
    throw invalidArgument(
      `a configuration exists already: set "deadline": ${JSON.stringify(deadline)} in ${foundFile}`,
    );
  }
  return { config: { file, text: `${JSON.stringify({ deadline }, undefined, 2)}\n` } };
}
