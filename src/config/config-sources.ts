import { readFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';

import { messageOf } from '../base/error.ts';
import type { StatePlaces } from '../base/state-places.ts';
import type { ConfigProblem } from './config-problem.ts';
import { factsOf, findProject, userFolders, type UserFolders } from './find-config.ts';
import type { ConfigSource, LoadConfigOptions } from './loaded-config.ts';
import { readTrust, trustFile, trusts, type TrustedFiles } from './trust.ts';

/** A file that was read. */
export interface ReadSource extends ConfigSource {
  readonly text: string;
  readonly isCode: boolean;
}

/** All files of a configuration, before anyone has looked into them. */
export interface ReadSources {
  readonly folder: string;
  readonly user: UserFolders;
  /** Where the user's state folder is. */
  readonly places: StatePlaces;
  /** The weakest first. */
  readonly sources: readonly ReadSource[];
  readonly problems: readonly ConfigProblem[];
  /** True when the user trusts the project as it is. Asked only where it matters. */
  readonly isTrusted: () => boolean;
}

/** A configuration is a page; what is larger is something else. */
const MAX_BYTES = 1_048_576;
const CODE_ENDINGS: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);

/** Finds and reads the files of a configuration. Never throws. */
export function readSources(options: LoadConfigOptions): ReadSources {
  const problems: ConfigProblem[] = [];
  const user = userFolders(options);
  const places: StatePlaces = { env: options.env ?? process.env, homeFolder: user.home };
  const read = (file: string, rest: Pick<ReadSource, 'layer' | 'trusted'>): readonly ReadSource[] => {
    try {
      return [{ ...rest, file, text: readConfigFile(file), isCode: CODE_ENDINGS.has(extname(file)) }];
    } catch (error) {
      problems.push({ path: '', kind: 'file', message: messageOf(error), file });
      return [];
    }
  };
  const trustsProject = (folder: string, files: readonly ReadSource[]): boolean =>
    trusts(readTrusted(folder, places, problems), files);
  const own = ['config.json', 'config.ts']
    .map((name) => join(user.config, name))
    .filter((file) => factsOf(file) !== undefined)
    .flatMap((file) => read(file, { layer: 'user', trusted: true }));
  const named = options.explicitPath;
  if (named !== undefined) {
    const sources = [...own, ...read(resolve(named), { layer: 'explicit', trusted: true })];
    const folder = resolve(options.projectFolder);
    return { folder, user, places, sources, problems, isTrusted: once(() => trustsProject(folder, [])) };
  }
  const { folder, files } = findProject(resolve(options.projectFolder));
  const found = files.flatMap((file) => read(file, { layer: 'project', trusted: false }));
  const isTrusted = once(() => trustsProject(folder, found));
  const project = found.length > 0 && isTrusted() ? found.map((source) => ({ ...source, trusted: true })) : found;
  return { folder, user, places, sources: [...own, ...project], problems, isTrusted };
}

function once(ask: () => boolean): () => boolean {
  let answer: boolean | undefined;
  return () => (answer ??= ask());
}

function readTrusted(folder: string, places: StatePlaces, problems: ConfigProblem[]): TrustedFiles | undefined {
  try {
    return readTrust(folder, places);
  } catch (error) {
    problems.push({ path: '', kind: 'file', message: messageOf(error), file: trustFile(folder, places) });
    return undefined;
  }
}

/**
 * The text of a configuration file. A device or a pipe is not opened, because it might never end.
 *
 * @throws an error that says, of the file, why it is not read: it is missing, no regular file, has more than 1 MiB
 */
export function readConfigFile(file: string): string {
  const facts = factsOf(file);
  if (facts === undefined) throw new Error(`there is no file ${basename(file)} that can be read`);
  if (!facts.isFile()) throw new Error('is no regular file');
  if (facts.size > MAX_BYTES) throw new Error(`has ${facts.size} bytes; at most ${MAX_BYTES} are read`);
  return readFileSync(file, 'utf8');
}
