import { messageOf } from '../base/error.ts';
import { assembleConfig, type LoadedModule } from './assemble-config.ts';
import { readSources, type ReadSource } from './config-sources.ts';
import type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts';
import { resolveConfig } from './resolve-config.ts';

/**
 * Reads the configuration for a folder: the user's own (`config.json`, then `config.ts` in `~/.config/coxswain`), over it
 * the project's (`coxswain.config.json`, then `coxswain.config.ts`). What a project's files may not decide without trust
 * is ignored and listed. Never throws, and never stops an agent: what cannot be read or understood is a problem in the
 * answer, and the rest holds.
 *
 * Code is loaded only where it is trusted or named, and must be loadable without waiting (no `await` at its top).
 *
 * Cost without code: about a dozen look-ups in the file system, and the files that are there.
 */
export function loadConfigSync(options: LoadConfigOptions): LoadedConfig {
  try {
    const read = readSources(options);
    const code = read.sources.filter(mayRun).map(({ file }) => [file, requireModule(file)] as const);
    return assembleConfig(read, new Map(code));
  } catch (error) {
    return withoutFiles(options, error);
  }
}

/** The same for a process that can wait: code may `await` at its top. Never rejects. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  try {
    const read = readSources(options);
    const modules = new Map<string, LoadedModule>();
    for (const { file } of read.sources.filter(mayRun)) modules.set(file, await importModule(file));
    return assembleConfig(read, modules);
  } catch (error) {
    return withoutFiles(options, error);
  }
}

function mayRun({ isCode, trusted }: ReadSource): boolean {
  return isCode && trusted;
}

function requireModule(file: string): LoadedModule {
  try {
    // Not imported: it would be loaded where there is no code, too.
    return { exported: process.getBuiltinModule('node:module').createRequire(file)(file) as unknown };
  } catch (thrown) {
    return { thrown };
  }
}

async function importModule(file: string): Promise<LoadedModule> {
  try {
    return { exported: (await import(process.getBuiltinModule('node:url').pathToFileURL(file).href)) as unknown };
  } catch (thrown) {
    return { thrown };
  }
}

/** A fault of ours, or a machine without a home folder: the defaults hold. */
function withoutFiles({ projectFolder, homeFolder = projectFolder }: LoadConfigOptions, error: unknown): LoadedConfig {
  return {
    resolved: resolveConfig({}, { folder: projectFolder, homeFolder }),
    config: {},
    folder: projectFolder,
    problems: [{ path: '', kind: 'file', message: `no configuration could be read: ${messageOf(error)}` }],
    ignored: [],
    sources: [],
  };
}
