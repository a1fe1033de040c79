import { join } from 'node:path';

import { factsOf, findProject, userFolders } from '../config/find-config.ts';
import type { LoadedConfig, LoadConfigOptions } from '../config/loaded-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { standardSteering } from '../../core/steering/standard-steering.ts';
import { RECORDS_FOLDER } from '../../stores/records-folder.ts';

/** The part of a configuration that a hook uses. */
export type HookConfig = Pick<LoadedConfig, 'problems' | 'refusal'> & {
  readonly resolved: Pick<
    ResolvedConfig,
    'steering' | 'redaction' | 'deadline' | 'deadlineFrom' | 'budget' | 'forceTurnAtStop' | 'store' | 'completion'
  >;
};

/** Like `loadConfigSync`, but does not load the file reader if no configuration file exists. Loading the reader takes 3 ms. */
export async function hookConfig(options: LoadConfigOptions & { readonly homeFolder: string }): Promise<HookConfig> {
  const { projectFolder } = options;
  if (hasFiles(options)) {
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
      // The address is checked when the store is opened.
      store: { kind: 'sqlite', address: join(projectFolder, RECORDS_FOLDER, 'runs.db') },
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
