import { rmdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { hashText } from '../../../core/base/hash.ts';
import { findFile, replaceFile } from '../../../core/node/guarded-file.ts';
import { runLimited } from '../../../core/node/run-limited.ts';
import { printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { loadNotifyConfig } from '../../../hosts/config/load-config.ts';
import { userFolders } from '../../../hosts/config/find-config.ts';
import { targetsOf } from '../../../hosts/notify/notifier.ts';
import { watchProgram } from './background-watch.ts';

const LIMIT_MS = 20_000;
const NAME = 'coxswain-watch';
const LABEL = 'dev.coxswain.watch';

interface WatchService {
  readonly file: string;
  readonly text: string;
  readonly start: readonly [program: string, ...args: string[]];
  readonly stop: readonly [program: string, ...args: string[]];
}

/** A service of this user: a unit of systemd or an agent of launchd. Throws CoxswainError "input-io" on other systems. */
export function watchService(): WatchService {
  const { args, env } = watchProgram();
  const variables = { PATH: process.env['PATH'] ?? '', ...env };
  if (process.platform === 'darwin') {
    const file = join(homedir(), 'Library/LaunchAgents', `${LABEL}.plist`);
    return {
      file,
      text: signed(launchAgent(args, variables), '<!-- ', ' -->'),
      start: ['launchctl', 'load', '-w', file],
      stop: ['launchctl', 'unload', '-w', file],
    };
  }
  if (process.platform === 'linux') {
    const { XDG_CONFIG_HOME: config = '' } = process.env;
    return {
      file: join(config === '' ? join(homedir(), '.config') : config, 'systemd/user', `${NAME}.service`),
      text: signed(systemdUnit(args, variables), '# ', ''),
      start: ['systemctl', '--user', 'enable', '--now', NAME],
      stop: ['systemctl', '--user', 'disable', '--now', NAME],
    };
  }
  throw new CoxswainError(
    'input-io',
    'the watch can start with systemd or launchd only; use coxswain watch --background',
  );
}

function systemdUnit(args: readonly string[], env: Readonly<Record<string, string>>): string {
  const quoted = (text: string): string =>
    `"${text
      .replaceAll(/["\\]/g, String.raw`\$&`)
      .replaceAll('%', '%%')
      .replaceAll('$', '$$$$')}"`;
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
    '[Unit]',
    'Description=coxswain watch',
    '[Service]',
    `ExecStart=${args.map((arg) => quoted(arg).replaceAll('$', '$$$$')).join(' ')}`,
    ...variables,
    'Restart=on-failure',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

function launchAgent(args: readonly string[], env: Readonly<Record<string, string>>): string {
  const string = (text: string): string =>
    `<string>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`;
  const variables = Object.entries(env).map(([name, value]) => `<key>${name}</key>${string(value)}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<plist version="1.0"><dict>',
    `<key>Label</key>${string(LABEL)}`,
    `<key>ProgramArguments</key><array>${args.map(string).join('')}</array>`,
    `<key>EnvironmentVariables</key><dict>${variables.join('')}</dict>`,
    '<key>RunAtLoad</key><true/>',
    '</dict></plist>',
    '',
  ].join('\n');
}

/** The last line has a hash of the text, so that undoing removes no file that a person has changed. */
function signed(text: string, open: string, close: string): string {
  return `${text}${open}coxswain init --watch ${hashText(text)}${close}\n`;
}

function isUnchanged(text: string): boolean {
  const [, body = '', hash] = /^([^]*\n)[^\n]*coxswain init --watch ([0-9a-f]+)[^\n]*\n$/.exec(text) ?? [];
  return hash !== undefined && hashText(body) === hash;
}

/** @throws CoxswainError `invalid-argument` if the configuration of the user names no one to tell */
export async function requireTargets(terminal: Terminal): Promise<void> {
  const { resolved } = await loadNotifyConfig(homedir(), (problem) =>
    terminal.complain(`coxswain: ${printableCut(problem, 500)}`),
  );
  if (targetsOf(resolved.notify ?? {}).length > 0) return;
  throw invalidArgument(
    `there is no one to tell: set notify to a webhook, a command or the desktop in ${join(userFolders({}).config, 'config.json')}, for example { "notify": { "desktop": true } }`,
  );
}

/** Writes and starts the service. Returns what to run if it did not start. Throws CoxswainError `input-io` for a foreign file. */
export async function installWatchService({ file, start, text }: WatchService): Promise<string | undefined> {
  const before = textOf(file);
  if (before !== undefined && !isUnchanged(before))
    throw new CoxswainError('input-io', `${file} is not as coxswain wrote it: move it away first`);
  if (before !== text) replaceFile(file, Buffer.from(text), { mode: 0o600 });
  return runs(start);
}

/** Returns the service file that `removeWatchService` would remove. Undefined if there is none, or if somebody changed it. */
export function watchServiceFile(): string | undefined {
  if (process.platform !== 'linux' && process.platform !== 'darwin') return undefined;
  const { file } = watchService();
  const text = textOf(file);
  return text !== undefined && isUnchanged(text) ? file : undefined;
}

/** Stops and removes the service if nobody has changed its file. Returns undefined without a service. */
export async function removeWatchService(): Promise<
  { readonly file: string; readonly isRemoved: boolean } | undefined
> {
  if (process.platform !== 'linux' && process.platform !== 'darwin') return undefined;
  const { file, stop } = watchService();
  const text = textOf(file);
  if (text === undefined) return undefined;
  if (!isUnchanged(text)) return { file, isRemoved: false };
  await runs(stop);
  rmSync(file);
  // Folders that are not empty stay.
  for (const folder of [dirname(file), dirname(dirname(file))]) if (!removedFolder(folder)) break;
  return { file, isRemoved: true };
}

function removedFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function textOf(file: string): string | undefined {
  return findFile(file)?.bytes.toString('utf8');
}

async function runs([program, ...args]: WatchService['start']): Promise<string | undefined> {
  const { root: cwd } = parse(process.cwd());
  const { code } = await runLimited({ command: program, args, cwd, env: process.env, limitMs: LIMIT_MS });
  return code === 0 ? undefined : [program, ...args].join(' ');
}
