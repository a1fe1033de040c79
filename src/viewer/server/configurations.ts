import { basename } from 'node:path';

import { present } from '../../base/present.ts';
import {
  makeConfiguration,
  recordedConfiguration,
  type Configuration,
  type ConfigurationSpec,
} from '../../backtest/configuration.ts';
import { readSources } from '../../config/config-sources.ts';
import type { ConfigurationChoice } from './trial-shapes.ts';
import { viewerFault } from './viewer-fault.ts';

export interface ConfigurationPlaces {
  /** Configuration files that the user passed. */
  readonly files: readonly string[];
  /** If set, the page also offers the configuration that a live run in this project would use, with the same rules of trust. */
  readonly projectFolder?: string | undefined;
}

/** The configurations that the page offers. The page refers to them by id, never by path. */
export class Configurations {
  readonly #places: ConfigurationPlaces;

  constructor(places: ConfigurationPlaces) {
    this.#places = places;
  }

  /** @throws CoxswainError `invalid-argument` for an invalid file */
  async check(): Promise<void> {
    await Promise.all(this.#places.files.map((file) => makeConfiguration({ file })));
  }

  choices(): readonly ConfigurationChoice[] {
    const { files, projectFolder } = this.#places;
    const hasProject = projectFolder !== undefined && readSources({ projectFolder }).sources.length > 0;
    return [
      { id: 'recorded', name: 'as recorded' },
      { id: 'standard', name: 'the standard set' },
      ...(hasProject ? [{ id: 'project', name: 'the configuration in force here' }] : []),
      ...files.map((file, at) => ({ id: `file-${at}`, name: basename(file) })),
    ];
  }

  /**
   * Reads the configuration file again on each call, so edits take effect at once.
   *
   * @param set  a numeric field to change, as in a sweep
   * @throws CoxswainError `not-found` for an unknown id, `invalid-argument` for an invalid file
   */
  async makeConfiguration(id: string, set?: ConfigurationSpec['set']): Promise<Configuration> {
    const { files, projectFolder } = this.#places;
    if (id === 'recorded') return recordedConfiguration();
    if (id === 'standard') return makeConfiguration(present({ set }));
    if (id === 'project' && projectFolder !== undefined)
      return makeConfiguration({ projectFolder, ...present({ set }) });
    const file = /^file-\d{1,4}$/.test(id) ? files[Number(id.slice(5))] : undefined;
    if (file === undefined) throw viewerFault('not-found', `there is no configuration ${id.slice(0, 80)}`);
    return makeConfiguration({ file, ...present({ set }) });
  }
}
