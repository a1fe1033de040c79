import { messageOf } from '../../core/base/error.ts';
import { readSources, type ReadSource, type ReadSources } from './config-sources.ts';
import type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts';
import { resolveConfig, type ResolveConfigOptions, type ResolvedConfig } from './resolve-config.ts';
import { present, isJsonObject } from '../../core/base/json.ts';
import { hashText } from '../../core/base/hash.ts';
import { checkTogether } from './check-together.ts';
import { type ConfigProblem, problemText, shownProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { readConfig, readConfigText } from './decode-config.ts';
import { resolveSteering } from '../../core/steering/resolve-steering.ts';
import { createRedactor, type RedactionOptions } from '../../core/redact/redactor.ts';
import { RunFold } from '../../core/run/run-fold.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import { configShape } from './config-shape.ts';
import type { Shape } from '../../core/base/shape.ts';

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

/** Like `loadConfig`, and reports each problem of `notify` and of a whole file, because people would not be told. */
export async function loadNotifyConfig(
  projectFolder: string,
  report: (problem: string) => void,
): Promise<LoadedConfig> {
  const loaded = await loadConfig({ projectFolder });
  for (const problem of loaded.problems.filter(({ path }) => path === '' || /^notify(?:\.|\[|$)/.test(path)))
    report(`${problem.file ?? 'configuration'}: ${problemText(problem)}`);
  return loaded;
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

type LoadedModule = { readonly exported: unknown } | { readonly thrown: unknown };

/** @param modules  the exports of the TypeScript files, by path */
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
): { readonly config: CoxswainConfig; readonly code?: CodeSection } {
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

function withCodeHash(resolved: ResolvedConfig, codeHash: string): ResolvedConfig {
  const { steering, hash } = resolved;
  return {
    ...resolved,
    hash: hashText(hash + codeHash),
    steering: { ...steering, madeFrom: hashText((steering.madeFrom ?? '') + codeHash) },
  };
}

/** The parts of a configuration that are code. Lists are appended to the lists of the JSON fields. */
export interface CodeSection extends Pick<
  SteeringOptions,
  'feedback' | 'observers' | 'guidance' | 'models' | 'detectors' | 'slices'
> {
  /** Redaction rules and exceptions that contain patterns or functions. They are added to the field `redaction`. */
  readonly redaction?: Pick<RedactionOptions, 'rules' | 'allow'>;
}

/** The default export of `coxswain.config.ts`: JSON fields and code. */
export interface CodeConfig extends CoxswainConfig {
  readonly code?: CodeSection;
}

/** Checks the types of a code configuration in the editor: `export default defineConfig({ … })`. */
export function defineConfig(config: CodeConfig): CodeConfig {
  return config;
}

export interface ReadModule {
  readonly data: unknown;
  readonly code: CodeSection | undefined;
  readonly problems: readonly ConfigProblem[];
}

const LISTS = ['feedback', 'observers', 'guidance', 'models', 'detectors', 'slices'] as const;

function readModule(exportedConfig: unknown): ReadModule {
  const config: unknown = isJsonObject(exportedConfig) ? exportedConfig['default'] : undefined;
  if (!isJsonObject(config)) {
    const message = 'has no configuration as its default export; write: export default defineConfig({ … })';
    return { data: {}, code: undefined, problems: [{ path: '', kind: 'file', message }] };
  }
  const { code, ...data } = config;
  if (code === undefined) return { data, code: undefined, problems: [] };
  if (!isJsonObject(code)) return { data, code: undefined, problems: [valueProblem('code', 'must be an object')] };
  const problems = Object.entries(code).flatMap(([name, value]) => {
    if (name === 'redaction') return isJsonObject(value) ? [] : [valueProblem('code.redaction', 'must be an object')];
    if (!LISTS.some((known) => known === name)) {
      return [valueProblem(`code.${name}`, `there is no such field; there are ${LISTS.join(', ')}, redaction`)];
    }
    return value === undefined || Array.isArray(value) ? [] : [valueProblem(`code.${name}`, 'must be a list')];
  });
  // `addCode` checks the items of the lists.
  return { data, code: problems.length === 0 ? code : undefined, problems };
}

function valueProblem(path: string, message: string): ConfigProblem {
  return { path, kind: 'value', message };
}

/** Finds a provider without a name or with a taken one. Returns the configuration unchanged if a run cannot start with it. */
function addCode(
  resolved: ResolvedConfig,
  code: CodeSection,
): { readonly resolved: ResolvedConfig; readonly problem?: ConfigProblem } {
  const { steering } = resolved;
  const added: ResolvedConfig = {
    ...resolved,
    steering: {
      ...steering,
      ...Object.fromEntries(
        LISTS.flatMap((name) => {
          const codeSection = code[name];
          return codeSection === undefined ? [] : [[name, [...(steering[name] ?? []), ...codeSection]]];
        }),
      ),
    },
    redaction: resolved.redaction === false ? false : withRedaction(resolved.redaction, code.redaction ?? {}),
  };
  try {
    // Does the same checks as `startRun`, without the recorder: a hook process does not need it, and loading it takes time.
    void new RunFold({ steering: resolveSteering(added.steering), prompts: [] });
    if (added.redaction !== false) createRedactor(added.redaction);
    return { resolved: added };
  } catch (error) {
    return { resolved, problem: { path: 'code', kind: 'file', message: messageOf(error) } };
  }
}

function withRedaction(options: RedactionOptions, code: NonNullable<CodeSection['redaction']>): RedactionOptions {
  return {
    ...options,
    ...(code.rules === undefined ? {} : { rules: [...(options.rules ?? []), ...code.rules] }),
    ...(code.allow === undefined ? {} : { allow: [...(options.allow ?? []), ...code.allow] }),
  };
}

/**
 * Merges two configurations. Objects are merged field by field. Other values (lists, numbers, booleans) are replaced. Some objects
 * are replaced as a whole: a deadline of hours and minutes, a trigger, a store.
 *
 * @param upper  the configuration with higher precedence
 */
function mergeConfig(lower: CoxswainConfig, upper: CoxswainConfig): CoxswainConfig {
  // The merge follows the shape, so the result has the same type.
  return mergedValue(lower, upper, configShape) as CoxswainConfig;
}

function mergedValue(lower: unknown, upper: unknown, shape: Shape): unknown {
  if (!isJsonObject(lower) || !isJsonObject(upper)) return upper;
  const inner = shape.kind === 'either' ? shape.shapes.find((one) => one.kind === 'object') : shape;
  if (inner?.kind === 'map') return { ...lower, ...upper };
  if (inner?.kind !== 'object' || inner.strict === true) return upper;
  const members = Object.entries(upper).map(([name, member]) => {
    const field = Object.hasOwn(inner.fields, name) ? inner.fields[name] : undefined;
    const isKnown = Object.hasOwn(lower, name) && field !== undefined;
    return [name, isKnown ? mergedValue(lower[name], member, field) : member] as const;
  });
  return { ...lower, ...Object.fromEntries(members) };
}
