import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { listTrust, revokeTrust, trustProject, type TrustState } from '../../../hosts/config/trust-project.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export async function trustCommand(
  folder: string | undefined,
  options: { readonly revoke?: boolean; readonly list?: boolean; readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { revoke = false, list = false, json = false } = options;
  if (list && (revoke || folder !== undefined)) throw invalidArgument('--list takes neither a folder nor --revoke');
  const output = { json, terminal };
  if (list) await listTrusted(output);
  else if (revoke) await revokeProject(folder ?? '.', output);
  else await trustOne(folder ?? '.', output);
  return 0;
}

interface TrustOutput {
  readonly json: boolean;
  readonly terminal: Terminal;
}

async function trustOne(name: string, { json, terminal }: TrustOutput): Promise<void> {
  const project = trustProject(name);
  const { files, folder } = project;
  const note =
    'coxswain config show --set prints what applies. Changing these files revokes the trust; so does: coxswain trust --revoke\n';
  await terminal.write(
    json ? jsonLine(project) : `trusted: ${printable(folder)}, with the current ${files.join(' and ')}\n${note}`,
  );
}

async function revokeProject(name: string, { json, terminal }: TrustOutput): Promise<void> {
  const folder = revokeTrust(name);
  if (folder === undefined) {
    throw new CoxswainError(
      'input-io',
      `${printable(name)} is not trusted; list trusted projects: coxswain trust --list`,
    );
  }
  await terminal.write(json ? jsonLine({ folder, state: 'revoked' }) : `no longer trusted: ${printable(folder)}\n`);
}

const STATES: Readonly<Record<TrustState['state'], string>> = {
  trusted: 'trusted',
  changed: 'changed since, so its configuration is ignored',
  gone: 'the folder no longer exists',
};

async function listTrusted({ json, terminal }: TrustOutput): Promise<void> {
  const projects = listTrust();
  for (const project of projects) {
    const { folder, files, state } = project;
    const names = files.length === 0 ? '' : ` (${printableCut(files.join(', '), 100)})`;
    await terminal.write(json ? jsonLine(project) : `${printable(folder)}${names}: ${STATES[state]}\n`);
  }
  if (projects.length === 0 && !json) await terminal.write('no project is trusted\n');
}
