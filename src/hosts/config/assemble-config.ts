import { present } from '../../core/base/present.ts';
import { messageOf } from '../../core/base/error.ts';
import { hashText } from '../../core/base/hash.ts';
import { stateFile } from '../../core/node/state-places.ts';
import { guardStore } from '../../stores/records-folder.ts';
import { checkTogether } from './check-together.ts';
import { addCode, type CodeSection, readModule } from './code-config.ts';
import { type ConfigProblem, shownProblem } from './config-problem.ts';
import type { ReadSource, ReadSources } from './config-sources.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { readConfig, readConfigText } from './decode-config.ts';
import { isLinkedOutside } from './leads-outside.ts';
import type { IgnoredField, LoadedConfig } from './loaded-config.ts';
import { mergeConfig } from './merge-config.ts';
import { resolveConfig, type ResolveConfigOptions } from './resolve-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { trustOf } from './field-trust.ts';

/** The exports of a loaded configuration module, or the error that it threw. */
export type LoadedModule = { readonly exported: unknown } | { readonly thrown: unknown };

/** The decoded content of one configuration file. */
interface Layer {
  readonly config: CoxswainConfig;
  readonly code?: CodeSection;
}

/**
 * Merges all configuration files into one configuration.
 *
 * @param modules  the exports of the trusted TypeScript files, by path
 */
export function assembleConfig(read: ReadSources, modules: ReadonlyMap<string, LoadedModule>): LoadedConfig {
  const problems: ConfigProblem[] = [...read.problems];
  const ignoredFields: IgnoredField[] = [];
  const paths: ResolveConfigOptions = { folder: read.folder, homeFolder: read.user.home };
  const codes: CodeSection[] = [];
  let config: CoxswainConfig = {};
  for (const source of read.sources) {
    const { file } = source;
    const layer = layerOf(source, modules.get(file), (problem) => problems.push({ ...problem, file }));
    if (layer === undefined) {
      ignoredFields.push({ file, path: '', why: 'code runs only after coxswain trust, or when named with --config' });
      continue;
    }
    config = mergeConfig(config, trustedFields(layer.config, source, ignoredFields));
    if (layer.code !== undefined) codes.push(layer.code);
  }
  const checked = checkTogether(config);
  const onlyFile = read.sources.length === 1 ? read.sources[0]?.file : undefined;
  problems.push(...checked.problems.map((one) => (onlyFile === undefined ? one : { ...one, file: onlyFile })));
  const guardedConfig = guardedStore(resolveConfig(checked.config, paths), read, (field) => ignoredFields.push(field));
  let { resolved } = guardedConfig;
  const texts = read.sources.filter(({ isCode, trusted }) => isCode && trusted).map(({ text }) => text);
  if (texts.length > 0) resolved = withCodeHash(resolved, hashText(texts.join('\n')));
  for (const code of codes) {
    const added = addCode(resolved, code);
    resolved = added.resolved;
    if (added.problem !== undefined) problems.push(added.problem);
  }
  const sources = read.sources.map(({ file, layer, trusted }) => ({ file, layer, trusted }));
  return {
    resolved,
    config: checked.config,
    folder: read.folder,
    problems: problems.map(shownProblem),
    ignored: ignoredFields,
    sources,
    ...present({ refusal: guardedConfig.refusal }),
  };
}

/** @returns undefined if the file contains code that is not trusted */
function layerOf(
  source: ReadSource,
  module: LoadedModule | undefined,
  report: (problem: ConfigProblem) => void,
): Layer | undefined {
  if (!source.isCode) {
    const { config, problems } = readConfigText(source.text);
    problems.forEach(report);
    return { config: storingLess(config, problems) };
  }
  if (module === undefined) return undefined;
  if ('thrown' in module) {
    report({ path: '', kind: 'file', message: `cannot be loaded: ${messageOf(module.thrown)}` });
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

/**
 * Checks the store path for links. A repository can contain a folder or a link at this path, and so select what is read and
 * written.
 */
function guardedStore(
  resolved: ResolvedConfig,
  { folder, places, isTrusted }: ReadSources,
  ignore: (field: IgnoredField) => void,
): Pick<LoadedConfig, 'resolved' | 'refusal'> {
  const { store: configuredStore } = resolved;
  const { store, refusal } = guardStore(configuredStore, places);
  if (refusal !== undefined) return { resolved: { ...resolved, store }, refusal };
  if (configuredStore.kind !== 'sqlite' || !isLinkedOutside(folder, configuredStore.address) || isTrusted())
    return { resolved };
  const address = stateFile('fallbackStore', { ...places, projectFolder: folder });
  const reason = `a link leads out of the project; until coxswain trust, runs are recorded in ${address}`;
  ignore({ path: 'store.address', why: reason, file: configuredStore.address });
  return { resolved: { ...resolved, store: { kind: 'sqlite', address } } };
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

/**
 * Returns the fields of a file that apply. For a project file these are the fields that `FIELD_TRUST` allows, otherwise all
 * fields.
 */
function trustedFields(
  config: CoxswainConfig,
  { file, layer, trusted }: ReadSource,
  ignoredFields: IgnoredField[],
): CoxswainConfig {
  if (layer !== 'project') return config;
  const allowedMembers = (
    value: Readonly<Record<string, unknown>>,
    parentPath: string,
  ): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const path = parentPath === '' ? name : `${parentPath}.${name}`;
        const trust = trustOf(path);
        if (trust === undefined && isJsonObject(member)) {
          const allowedPart = allowedMembers(member, path);
          return Object.keys(allowedPart).length === 0 ? [] : [[name, allowedPart] as const];
        }
        if (trust?.needs === 'none' || (trusted && trust?.needs === 'trust')) return [[name, member] as const];
        const condition = trust?.needs === 'own' ? 'in your own configuration' : 'after coxswain trust';
        ignoredFields.push({ file, path, why: `${trust?.why ?? 'has no class'}; it applies only ${condition}` });
        return [];
      }),
    );
  // All fields are optional, so removing fields keeps the type.
  return allowedMembers({ ...config }, '');
}
