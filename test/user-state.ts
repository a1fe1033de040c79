import { existsSync, readFileSync } from 'node:fs';

import { projectStoreFile } from '../src/core/node/git-folder.ts';
import { stateFile, type Environment } from '../src/core/node/state-places.ts';
import { faultOwners } from '../src/core/node/fault-log.ts';
import { trustProject } from '../src/hosts/config/trust-project.ts';

/** A project, and the environment of the user who works in it. */
export interface UserPlace {
  readonly project: string;
  readonly env: Environment;
}

/** All faults that were logged for a project, and for no project, as text. */
export function loggedFaults({ project, env }: UserPlace): string {
  const files = faultOwners({ env, projectFolder: project }).map((owner) => stateFile('faults', owner));
  return files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join('');
}

/** What `coxswain trust` does in the project. */
export function trustAs({ project, env }: UserPlace): void {
  trustProject(project, { env, homeFolder: env['HOME'] });
}

/** The file of the project's runs, in the user's data folder. */
export function storeFileOf({ project, env }: UserPlace): string {
  return projectStoreFile(project, { env });
}
