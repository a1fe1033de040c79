import { join } from 'node:path';

import { factsOf, findProject, userFolders } from '../config/find-config.ts';
import { isLinkedOutside } from '../config/leads-outside.ts';
import type { LoadedConfig, LoadConfigOptions } from '../config/loaded-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { standardSteering } from '../standard-steering.ts';

/** What of a configuration a hook goes by. */
export type HookConfig = Pick<LoadedConfig, 'problems'> & {
  readonly resolved: Pick<
    ResolvedConfig,
    'steering' | 'redaction' | 'deadline' | 'deadlineFrom' | 'budget' | 'forceTurnAtStop' | 'store' | 'completion'
  >;
};

/**
 * As `loadConfigSync`. Where no file says anything, and nothing is amiss, what reads files is not even loaded: it would take
 * 3 ms of a process that has few.
 */
export async function hookConfig(options: LoadConfigOptions & { readonly homeFolder: string }): Promise<HookConfig> {
  const { projectFolder } = options;
  const path = join(projectFolder, '.coxswain', 'runs.db');
  if (hasFiles(options) || isLinkedOutside(projectFolder, path)) {
    const { loadConfigSync } = await import('../config/load-config.ts');
    return loadConfigSync(options);
  }
  return {
    problems: [],
    resolved: {
      steering: standardSteering(),
      redaction: {},
      deadlineFrom: 'session',
      forceTurnAtStop: false,
      store: { kind: 'sqlite', path },
    },
  };
}

function hasFiles(options: LoadConfigOptions): boolean {
  if (options.explicitPath !== undefined) return true;
  const { config } = userFolders(options);
  if (factsOf(config) !== undefined && ['config.json', 'config.ts'].some((name) => factsOf(join(config, name))))
    return true;
  return findProject(options.projectFolder).files.length > 0;
}
