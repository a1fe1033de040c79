import { messageOf } from '../../core/base/error.ts';
import { readSources, type ReadSource, type ReadSources } from './config-sources.ts';
import type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts';
import { resolveConfig, type ResolveConfigOptions } from './resolve-config.ts';
import { present } from '../../core/base/json.ts';
import { hashText } from '../../core/base/hash.ts';
import { checkTogether } from './check-together.ts';
import { addCode, type CodeSection, readModule } from './code-config.ts';
import { type ConfigProblem, shownProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { readConfig, readConfigText } from './decode-config.ts';
import { mergeConfig } from './merge-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';

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

/** The exports of a loaded configuration module, or the error that it threw. */
type LoadedModule = { readonly exported: unknown } | { readonly thrown: unknown };

/** The decoded content of one configuration file. */
interface Layer {
  readonly config: CoxswainConfig;
  readonly code?: CodeSection;
}

/**
 * Merges all configuration files into one configuration.
 *
 * @param modules  the exports of the TypeScript files, by path
 */
function assembleConfig(read: ReadSources, modules: ReadonlyMap<string, LoadedModule>): LoadedConfig {
  const problems: ConfigProblem[] = [...read.problems];
  const paths: ResolveConfigOptions = { folder: read.folder, homeFolder: read.user.home, env: read.places.env };
  const codes: CodeSection[] = [];
  let config: CoxswainConfig = {};
  for (const source of read.sources) {
    const { file } = source;
    const layer = layerOf(source, modules.get(file), (problem) => problems.push({ ...problem, file }));
    config = mergeConfig(config, layer.config);
    if (layer.code !== undefined) codes.push(layer.code);
  }
  const checked = checkTogether(config);
  const onlyFile = read.sources.length === 1 ? read.sources[0]?.file : undefined;
  problems.push(...checked.problems.map((one) => (onlyFile === undefined ? one : { ...one, file: onlyFile })));
  let resolved = resolveConfig(checked.config, paths);
  const texts = read.sources.filter(({ isCode }) => isCode).map(({ text }) => text);
  if (texts.length > 0) resolved = withCodeHash(resolved, hashText(texts.join('\n')));
  for (const code of codes) {
    const added = addCode(resolved, code);
    resolved = added.resolved;
    if (added.problem !== undefined) problems.push(added.problem);
  }
  return {
    resolved,
    config: checked.config,
    folder: read.folder,
    problems: problems.map(shownProblem),
    untrusted: read.untrusted,
    sources: read.sources.map(({ file, layer }) => ({ file, layer })),
  };
}

function layerOf(
  source: ReadSource,
  module: LoadedModule | undefined,
  report: (problem: ConfigProblem) => void,
): Layer {
  if (!source.isCode) {
    const { config, problems } = readConfigText(source.text);
    problems.forEach(report);
    return { config: storingLess(config, problems) };
  }
  if (module === undefined || 'thrown' in module) {
    report({ path: '', kind: 'file', message: `cannot be loaded: ${messageOf(module?.thrown)}` });
    return { config: {} };
  }
  const { data, code, problems } = readModule(module.exported);
  const reading = readConfig(data);
  [...problems, ...reading.problems].forEach(report);
  return { config: storingLess(reading.config, reading.problems), ...present({ code }) };
}

/** If the redaction mode is invalid, selects `structureOnly`: storing too little is safer than storing too much. */
function storingLess(config: CoxswainConfig, problems: readonly ConfigProblem[]): CoxswainConfig {
  if (!problems.some(({ path }) => path === 'redaction.mode')) return config;
  return { ...config, redaction: { ...config.redaction, mode: 'structureOnly' } };
}

/** Adds the source text of code to the hashes, because functions cannot be compared. */
function withCodeHash(resolved: ResolvedConfig, codeHash: string): ResolvedConfig {
  const { steering, hash } = resolved;
  return {
    ...resolved,
    hash: hashText(hash + codeHash),
    steering: { ...steering, madeFrom: hashText((steering.madeFrom ?? '') + codeHash) },
  };
}
