import { join, resolve } from 'node:path';

import { CoxswainError } from '../../../base/error.ts';
import { listTrust, revokeTrust, trustProject, type TrustState } from '../../../config/trust-project.ts';
import { adoptRecords, RECORDS_FOLDER } from '../../../store/records-folder.ts';
import { jsonLine, printable, printableCut } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain trust`, as the command line gives them. */
export interface TrustOptions {
  readonly revoke?: boolean;
  readonly list?: boolean;
  readonly records?: boolean;
  readonly json?: boolean;
}

/**
 * `coxswain trust`: trusts a project's configuration, takes it back, or lists what is trusted.
 *
 * @returns the exit code
 * @throws CoxswainError `invalid-argument` for options that exclude each other, `input-io` as `trustProject`
 */
export async function trustCommand(
  folder: string | undefined,
  options: TrustOptions,
  terminal: Terminal,
): Promise<number> {
  const { revoke = false, list = false, json = false, records = false } = options;
  if (list) {
    if (revoke || records || folder !== undefined) {
      throw new CoxswainError('invalid-argument', '--list stands alone: without a folder, --revoke or --records');
    }
    return await listed(json, terminal);
  }
  if (records) {
    if (revoke)
      throw new CoxswainError('invalid-argument', '--records accepts a folder; to take that back, delete the folder');
    return await accepted(folder ?? '.', json, terminal);
  }
  return revoke ? await revoked(folder ?? '.', json, terminal) : await trusted(folder ?? '.', json, terminal);
}

async function trusted(folder: string, json: boolean, terminal: Terminal): Promise<number> {
  const project = trustProject(folder);
  if (json) {
    await terminal.write(jsonLine(project));
    return 0;
  }
  const { files, counts } = project;
  const what = files.length === 0 ? 'it has no configuration yet' : `with ${files.join(' and ')} as now`;
  await terminal.write(`trusted: ${printable(project.folder)}, ${what}\n`);
  for (const { path, value } of counts) {
    const says = value === undefined ? '' : `: ${printableCut(JSON.stringify(value), 300)}`;
    await terminal.write(`  counts now: ${printableCut(path, 100)}${says}\n`);
  }
  await terminal.write('A change of these files withdraws it; so does: coxswain trust --revoke\n');
  return 0;
}

async function accepted(folder: string, json: boolean, terminal: Terminal): Promise<number> {
  const records = join(resolve(folder), RECORDS_FOLDER);
  adoptRecords(records, { env: process.env });
  await terminal.write(
    json ? jsonLine({ folder: records, state: 'accepted' }) : `accepted: ${printable(records)} is used from now on\n`,
  );
  return 0;
}

async function revoked(folder: string, json: boolean, terminal: Terminal): Promise<number> {
  const found = revokeTrust(folder);
  if (found === undefined) {
    throw new CoxswainError('input-io', `${printable(folder)} is not trusted; coxswain trust --list shows what is`);
  }
  await terminal.write(
    json ? jsonLine({ folder: found, state: 'revoked' }) : `not trusted any more: ${printable(found)}\n`,
  );
  return 0;
}

const STATES: Readonly<Record<TrustState['state'], string>> = {
  trusted: 'trusted',
  changed: 'changed since: what needs trust does not count',
  gone: 'the folder is gone',
};

async function listed(json: boolean, terminal: Terminal): Promise<number> {
  const projects = listTrust();
  for (const project of projects) {
    const { folder, files, state } = project;
    const names = files.length === 0 ? '' : ` (${printableCut(files.join(', '), 100)})`;
    await terminal.write(json ? jsonLine(project) : `${printable(folder)}${names}: ${STATES[state]}\n`);
  }
  if (projects.length === 0 && !json) await terminal.write('no project is trusted\n');
  return 0;
}
