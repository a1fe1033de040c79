import { join } from 'node:path';

import type { StatePlaces } from '../../core/node/state-places.ts';
import { projectStoreFile } from '../../core/node/git-folder.ts';
import { factsOf, findProject, userFolders } from '../config/find-config.ts';
import type { LoadedConfig, LoadConfigOptions } from '../config/loaded-config.ts';
import type { ResolvedConfig } from '../config/resolve-config.ts';
import { standardSteering } from '../../core/steering/standard-steering.ts';

export type HookConfig = Pick<LoadedConfig, 'problems' | 'untrusted'> & {
  readonly resolved: Pick<
    ResolvedConfig,
    | 'steering'
    | 'redaction'
    | 'deadline'
    | 'deadlineFrom'
    | 'budget'
    | 'forceTurnAtStop'
    | 'store'
    | 'completion'
    | 'prices'
  >;
};

/** Like `loadConfigSync`, but does not load the file reader if no configuration file exists. Loading the reader takes 3 ms. */
export async function hookConfig(options: LoadConfigOptions & Required<StatePlaces>): Promise<HookConfig> {
  const { projectFolder } = options;
  if (hasFiles(options)) {
    const { loadConfigSync } = await import('../config/load-config.ts');
    return loadConfigSync(options);
  }
  return {
    problems: [],
    untrusted: [],
    resolved: {
      steering: standardSteering(),
      redaction: {},
      deadlineFrom: 'session',
      forceTurnAtStop: false,
      store: { kind: 'sqlite', address: projectStoreFile(projectFolder, options) },
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
