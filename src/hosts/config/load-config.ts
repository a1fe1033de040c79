import { messageOf } from '../../core/base/error.ts';
import { assembleConfig, type LoadedModule } from './assemble-config.ts';
import { readSources, type ReadSource } from './config-sources.ts';
import type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts';
import { resolveConfig } from './resolve-config.ts';

/**
 * Loads the configuration of a folder. The user's own files (`config.json`, then `config.ts` in `~/.config/coxswain`) have lower
 * precedence than the project's files (`coxswain.config.json`, then `coxswain.config.ts`). The project's files apply only after
 * `coxswain trust`; otherwise they are neither decoded nor run. Never throws, so that a configuration error cannot stop an agent. Unreadable or invalid parts are listed as
 * problems, and the other parts apply.
 *
 * Code must load synchronously (no top-level `await`).
 *
 * Cost without code: about twelve file system calls, and reading the files.
 */
export function loadConfigSync(options: LoadConfigOptions): LoadedConfig {
  try {
    const sources = readSources(options);
    const code = sources.sources.filter(isCodeFile).map(({ file }) => [file, requireModule(file)] as const);
    return assembleConfig(sources, new Map(code));
  } catch (error) {
    return withoutFiles(options, error);
  }
}

/** Like `loadConfigSync`, but code may use top-level `await`. Never rejects. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  try {
    const sources = readSources(options);
    const modules = new Map<string, LoadedModule>();
    for (const { file } of sources.sources.filter(isCodeFile)) modules.set(file, await importModule(file));
    return assembleConfig(sources, modules);
  } catch (error) {
    return withoutFiles(options, error);
  }
}

function isCodeFile({ isCode }: ReadSource): boolean {
  return isCode;
}

function requireModule(file: string): LoadedModule {
  try {
    // A static import would load `node:module` even if there is no code.
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

/** Returns the default configuration, after an internal error or without a home folder. */
function withoutFiles({ projectFolder, homeFolder = projectFolder }: LoadConfigOptions, error: unknown): LoadedConfig {
  return {
    resolved: resolveConfig({}, { folder: projectFolder, homeFolder }),
    config: {},
    folder: projectFolder,
    problems: [{ path: '', kind: 'file', message: `no configuration could be read: ${messageOf(error)}` }],
    untrusted: [],
    sources: [],
  };
}
