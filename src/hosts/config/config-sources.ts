import { readFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';

import { messageOf } from '../../core/base/error.ts';
import type { StatePlaces } from '../../core/node/state-places.ts';
import type { ConfigProblem } from './config-problem.ts';
import { factsOf, findProject, userFolders, type UserFolders } from './find-config.ts';
import type { ConfigSource, LoadConfigOptions, LoadedConfig } from './loaded-config.ts';
import { readTrust, trustFile, trusts, type TrustedFiles } from './trust.ts';

export interface ReadSource extends ConfigSource {
  readonly text: string;
  readonly isCode: boolean;
}

export interface ReadSources extends Pick<LoadedConfig, 'folder' | 'untrusted' | 'problems'> {
  readonly user: UserFolders;
  readonly places: StatePlaces;
  /** Files that apply, in the order of precedence, lowest first. */
  readonly sources: readonly ReadSource[];
}

const MAX_BYTES = 1_048_576;
const CODE_ENDINGS: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);

export function readSources(options: LoadConfigOptions): ReadSources {
  const problems: ConfigProblem[] = [];
  const user = userFolders(options);
  const places: StatePlaces = { env: options.env ?? process.env, homeFolder: user.home };
  const readFile = (file: string, layer: ReadSource['layer']): readonly ReadSource[] => {
    try {
      return [{ layer, file, text: readConfigFile(file), isCode: CODE_ENDINGS.has(extname(file)) }];
    } catch (error) {
      problems.push({ path: '', kind: 'file', message: messageOf(error), file });
      return [];
    }
  };
  const userFiles = ['config.json', 'config.ts']
    .map((name) => join(user.config, name))
    .filter((file) => factsOf(file) !== undefined)
    .flatMap((file) => readFile(file, 'user'));
  const { explicitPath } = options;
  if (explicitPath !== undefined) {
    const sources = [...userFiles, ...readFile(resolve(explicitPath), 'explicit')];
    return { folder: resolve(options.projectFolder), user, places, sources, problems, untrusted: [] };
  }
  const { folder, files } = findProject(resolve(options.projectFolder));
  const project = files.flatMap((file) => readFile(file, 'project'));
  const isTrusted = project.length === 0 || trusts(readTrusted(folder, places, problems), project);
  const untrusted = isTrusted ? [] : project.map(({ file }) => file);
  return { folder, user, places, sources: [...userFiles, ...(isTrusted ? project : [])], problems, untrusted };
}

function readTrusted(folder: string, places: StatePlaces, problems: ConfigProblem[]): TrustedFiles | undefined {
  try {
    return readTrust(folder, places);
  } catch (error) {
    problems.push({ path: '', kind: 'file', message: messageOf(error), file: trustFile(folder, places) });
    return undefined;
  }
}

/** Devices and pipes may never end. Throws Error if the file is missing, not a regular file, or larger than 1 MiB. */
export function readConfigFile(file: string): string {
  const stats = factsOf(file);
  if (stats === undefined) throw new Error(`there is no readable file ${basename(file)}`);
  if (!stats.isFile()) throw new Error('is not a regular file');
  if (stats.size > MAX_BYTES) throw new Error(`has ${stats.size} bytes; the limit is ${MAX_BYTES}`);
  return readFileSync(file, 'utf8');
}
