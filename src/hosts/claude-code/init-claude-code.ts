import { createHash } from 'node:crypto';
import { rmdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { present, isJsonObject } from '../../core/base/json.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { requireInside, readGuarded, replaceGuarded, findFile, replaceFile } from '../../core/node/guarded-file.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../core/node/state-places.ts';
import { removeHooks } from './edit-settings.ts';
import type { IgnoreFile } from './keep-settings-out.ts';
import type { HostName } from '../dialects/hook-dialect.ts';
import { HOOK_MARK } from './init-hooks.ts';

export interface InitRequest {
  readonly host: HostName;
  readonly settingsFile: string;
  readonly edit: (before: string) => string;
  /** For a project, no link inside its folder is followed. Backups are stored in the owner's state folder. */
  readonly owner: StateOwner;
  readonly ignore?: IgnoreFile;
  readonly config?: { readonly file: string; readonly text: string };
}

export interface InitChange {
  readonly host: HostName;
  readonly file: string;
  readonly before: string | undefined;
  readonly after: string;
  readonly within?: string;
}

export interface UndoneFile {
  readonly file: string;
  /** `restored` as before `init`; `removed`: new then; `edited`: without the hooks; `kept`: deleted, or changed and without hooks. */
  readonly outcome: 'restored' | 'removed' | 'edited' | 'kept' | 'gone';
}

interface Backup {
  readonly host?: string;
  readonly file: string;
  /** Content before `init`, in Base64. Null if the file did not exist. */
  readonly before: string | null;
  readonly after_sha256: string;
  readonly folder_made: string | null;
  readonly within?: string;
}

/** Absolute path of the bundled hook of this installation. The file may not exist. */
export function ownHookFile(): string {
  return fileURLToPath(new URL('../../../dist/hook.cjs', import.meta.url));
}

/** Empty if everything is set up. Throws CoxswainError `invalid-argument` for settings that cannot be edited, `input-io`. */
export function planInit(request: InitRequest): readonly InitChange[] {
  const { host, settingsFile, config, edit, ignore, owner } = request;
  const fileOptions = owner.projectFolder === undefined ? {} : { within: owner.projectFolder };
  // Check before reading, because the content behind a link must not be shown either.
  if (owner.projectFolder !== undefined) requireInside(owner.projectFolder, settingsFile);
  const settingsBefore = textOf(settingsFile);
  const settingsAfter = withFileName(settingsFile, () => edit(settingsBefore ?? ''));
  const changes: InitChange[] =
    settingsBefore === settingsAfter
      ? []
      : [{ host, file: settingsFile, before: settingsBefore, after: settingsAfter, ...fileOptions }];
  if (ignore !== undefined) {
    requireInside(ignore.within, ignore.file);
    const ignoreText = textOf(ignore.file);
    // Write the ignore file first, so that git never sees the settings.
    if (ignoreText !== ignore.text) {
      changes.unshift({ host, file: ignore.file, before: ignoreText, after: ignore.text, within: ignore.within });
    }
  }
  if (config !== undefined && findFile(config.file) === undefined) {
    changes.push({ host, file: config.file, before: undefined, after: config.text, ...fileOptions });
  }
  return changes;
}

/** A repeated `init` keeps the backup of the first. Throws CoxswainError `input-io`; earlier changes can be undone. */
export function applyInit(changes: readonly InitChange[], { owner }: Pick<InitRequest, 'owner'>): void {
  for (const { file, after, host, within } of changes) {
    const backups = readBackups(owner);
    const knownBackup = backups.find((backup) => backup.file === file);
    const foundFile = findFile(file);
    const bytes = Buffer.from(after, 'utf8');
    const isOurs =
      knownBackup !== undefined && foundFile !== undefined && sha256(foundFile.bytes) === knownBackup.after_sha256;
    const originalBytes = isOurs
      ? knownBackup.before
      : foundFile === undefined
        ? null
        : foreignBytes(file, foundFile.bytes).toString('base64');
    const backup: Backup = {
      host,
      file,
      before: originalBytes,
      after_sha256: sha256(bytes),
      folder_made: isOurs ? knownBackup.folder_made : null,
      ...present({ within }),
    };
    const otherBackups = backups.filter((other) => other.file !== file);
    writeBackups(owner, [...otherBackups, backup]);
    const folder_made = replaceFile(file, bytes, { within });
    if (folder_made !== undefined) writeBackups(owner, [...otherBackups, { ...backup, folder_made }]);
  }
}

/** Has the lines of all hosts, so that only the undo of the last one takes it back. */
function isIgnoreFile(file: string): boolean {
  return basename(file) === 'exclude';
}

/** Another program makes this change on behalf of coxswain. Throws CoxswainError `input-io`. */
export function keepBackup(
  { file, before, host }: Pick<InitChange, 'file' | 'host'> & { readonly before: Buffer | undefined },
  owner: StateOwner,
): void {
  const bytesAfter = findFile(file)?.bytes;
  const knownBackups = readBackups(owner);
  if (bytesAfter === undefined || (before?.equals(bytesAfter) ?? false)) return;
  const earlierBackup = knownBackups.find(
    (backup) => backup.file === file && before !== undefined && sha256(before) === backup.after_sha256,
  );
  const backup: Backup = {
    host,
    file,
    before: earlierBackup === undefined ? (before?.toString('base64') ?? null) : earlierBackup.before,
    after_sha256: sha256(bytesAfter),
    folder_made: null,
  };
  writeBackups(owner, [...knownBackups.filter((other) => other.file !== file), backup]);
}

/** The files that `undoInit` would change. `files`: those that have a hook. */
export function filesToUndo(owner: StateOwner, files: readonly string[], host?: HostName): readonly string[] {
  const backups = readBackups(owner);
  const kept = backups.filter(selectionOf(backups, host));
  return [...new Set([...kept.map(({ file }) => file), ...files])].filter((file) => findFile(file) !== undefined);
}

/**
 * @param settingsFiles  checked even without a backup
 * @param host  default: every host
 * @throws CoxswainError `input-io` if a file cannot be written, `invalid-argument` for settings that cannot be edited
 */
export function undoInit(owner: StateOwner, settingsFiles: readonly string[], host?: HostName): readonly UndoneFile[] {
  const backups = readBackups(owner);
  const isSelected = selectionOf(backups, host);
  const undoneFiles = backups.filter(isSelected).map((backup) => ({ file: backup.file, outcome: undoBackup(backup) }));
  const remainingBackups = backups.filter((backup) => !isSelected(backup));
  if (remainingBackups.length > 0) writeBackups(owner, remainingBackups);
  else rmSync(stateFile('initBackup', owner), { force: true });
  const otherFiles = settingsFiles
    .filter((file) => backups.every((backup) => backup.file !== file))
    .map((file): UndoneFile => ({ file, outcome: removeHooksFrom(file, owner.projectFolder) }));
  return [...undoneFiles, ...otherFiles.filter(({ outcome }) => outcome === 'edited' || outcome === 'removed')];
}

function selectionOf(backups: readonly Backup[], host: HostName | undefined): (backup: Backup) => boolean {
  const isOfHost = (backup: Backup): boolean => host === undefined || (backup.host ?? 'claude-code') === host;
  const isLast = backups.every((backup) => isOfHost(backup) || isIgnoreFile(backup.file));
  return (backup) => (isIgnoreFile(backup.file) ? isLast : isOfHost(backup));
}

/** Returns the content without the coxswain hooks. A file that was changed after the last `init` still contains them. */
function foreignBytes(file: string, bytes: Buffer): Buffer {
  const text = bytes.toString('utf8');
  return text.includes(HOOK_MARK) && file.endsWith('.json')
    ? Buffer.from(
        withFileName(file, () => removeHooks(text)),
        'utf8',
      )
    : bytes;
}

function undoBackup({ file, before, after_sha256, folder_made, within }: Backup): UndoneFile['outcome'] {
  if (within !== undefined) requireInside(within, file);
  const foundFile = findFile(file);
  if (foundFile === undefined) return 'gone';
  if (sha256(foundFile.bytes) !== after_sha256) return removeHooksFrom(file, within);
  if (before !== null) {
    replaceFile(file, Buffer.from(before, 'base64'), { within });
    return 'restored';
  }
  rmSync(file);
  if (folder_made !== null) removeEmpty(dirname(file), folder_made);
  return 'removed';
}

function removeHooksFrom(file: string, insideOf: string | undefined): 'edited' | 'kept' | 'removed' {
  if (insideOf !== undefined) requireInside(insideOf, file);
  if (/\.[jt]s$/.test(file)) {
    if (textOf(file)?.startsWith(`// ${HOOK_MARK}`) !== true) return 'kept';
    rmSync(file);
    return 'removed';
  }
  const textBefore = file.endsWith('.json') ? textOf(file) : undefined;
  const textAfter = textBefore === undefined ? undefined : withFileName(file, () => removeHooks(textBefore));
  if (textAfter === undefined || textAfter === textBefore) return 'kept';
  replaceFile(file, Buffer.from(textAfter, 'utf8'), { within: insideOf });
  return 'edited';
}

function removeEmpty(folder: string, topmost: string): void {
  for (let current = folder; current.startsWith(topmost); current = dirname(current)) {
    try {
      rmdirSync(current);
    } catch {
      // The folder is not empty.
      return;
    }
  }
}

/** @throws CoxswainError `invalid-argument` for bytes that are not UTF-8, because an edit would corrupt them */
function textOf(file: string): string | undefined {
  const foundFile = findFile(file);
  if (foundFile === undefined) return undefined;
  const text = foundFile.bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(foundFile.bytes)) return text;
  throw new CoxswainError('invalid-argument', `${file} is not UTF-8; fix it first`, { details: { file } });
}

function withFileName<Result>(file: string, edit: () => Result): Result {
  try {
    return edit();
  } catch (error) {
    throw new CoxswainError('invalid-argument', `${file}: ${messageOf(error)}`, { cause: error, details: { file } });
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function readBackups(owner: StateOwner): readonly Backup[] {
  const backupFile = stateFile('initBackup', owner);
  try {
    const bytes = readGuarded(backupFile);
    if (bytes === undefined) return [];
    const json: unknown = JSON.parse(bytes.toString('utf8'));
    const files: unknown = isJsonObject(json) ? json['files'] : undefined;
    if (!Array.isArray(files) || !files.every(isBackup)) throw new Error('its content has an unexpected shape');
    return files;
  } catch (error) {
    throw new CoxswainError('input-io', `${backupFile} is damaged: ${messageOf(error)}; move it away`, {
      cause: error,
    });
  }
}

function isBackup(value: unknown): value is Backup {
  if (!isJsonObject(value)) return false;
  const { file, before, after_sha256, folder_made, host, within } = value;
  if (host !== undefined && typeof host !== 'string') return false;
  if (within !== undefined && typeof within !== 'string') return false;
  const orNull = (member: unknown): boolean => member === null || typeof member === 'string';
  return typeof file === 'string' && typeof after_sha256 === 'string' && orNull(before) && orNull(folder_made);
}

function writeBackups(owner: StateOwner, files: readonly Backup[]): void {
  const backupFile = stateFile('initBackup', owner);
  try {
    makeStateFolder(owner);
    replaceGuarded(backupFile, `${JSON.stringify({ schema_version: 1, files }, undefined, 2)}\n`);
  } catch (error) {
    throw new CoxswainError('input-io', `${backupFile} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
