import { present } from '../base/present.ts';
import { messageOf } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { stateFile } from '../base/state-places.ts';
import { guardStore } from '../store/records-folder.ts';
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
import { isJsonObject } from '../base/json.ts';
import { trustOf } from './field-trust.ts';

/** A module of a configuration that was loaded, or what it threw. */
export type LoadedModule = { readonly exported: unknown } | { readonly thrown: unknown };

/** What one file says. */
interface Layer {
  readonly config: CoxswainConfig;
  readonly code?: CodeSection;
}

/**
 * Makes one configuration of all files.
 *
 * @param modules what the files with trusted code export, by path
 */
export function assembleConfig(read: ReadSources, modules: ReadonlyMap<string, LoadedModule>): LoadedConfig {
  const problems: ConfigProblem[] = [...read.problems];
  const ignored: IgnoredField[] = [];
  const paths: ResolveConfigOptions = { folder: read.folder, homeFolder: read.user.home };
  const codes: CodeSection[] = [];
  let config: CoxswainConfig = {};
  for (const source of read.sources) {
    const { file } = source;
    const layer = layerOf(source, modules.get(file), (problem) => problems.push({ ...problem, file }));
    if (layer === undefined) {
      ignored.push({ file, path: '', why: 'code runs only after: coxswain trust, or named with --config' });
      continue;
    }
    const given = countingFields(layer.config, source, (field) => ignored.push({ ...field, file }));
    config = mergeConfig(config, given);
    if (layer.code !== undefined) codes.push(layer.code);
  }
  const together = checkTogether(config);
  const only = read.sources.length === 1 ? read.sources[0]?.file : undefined;
  problems.push(...together.problems.map((one) => (only === undefined ? one : { ...one, file: only })));
  const guarded = guardedStore(resolveConfig(together.config, paths), read, (field) => ignored.push(field));
  let { resolved } = guarded;
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
    config: together.config,
    folder: read.folder,
    problems: problems.map(shownProblem),
    ignored,
    sources,
    ...present({ refusal: guarded.refusal }),
  };
}

/** @returns undefined for code that may not run */
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

/** Of a mode that is not understood it is only sure that it is not left at its default: rather too little is stored. */
function storingLess(config: CoxswainConfig, problems: readonly ConfigProblem[]): CoxswainConfig {
  if (!problems.some(({ path }) => path === 'redaction.mode')) return config;
  return { ...config, redaction: { ...config.redaction, mode: 'structureOnly' } };
}

/** What of a file counts: of the user's own, and of one that was named, everything. */
function countingFields(
  given: CoxswainConfig,
  { layer, trusted }: ReadSource,
  ignore: (field: { readonly path: string; readonly why: string }) => void,
): CoxswainConfig {
  if (layer !== 'project') return given;
  const { config, ignored } = applyTrust(given, trusted);
  ignored.forEach(ignore);
  return config;
}

/** A repository can bring along a folder or a link where the store would be, and so choose what is read and written. */
function guardedStore(
  resolved: ResolvedConfig,
  { folder, places, isTrusted }: ReadSources,
  ignore: (field: IgnoredField) => void,
): Pick<LoadedConfig, 'resolved' | 'refusal'> {
  const { store: named } = resolved;
  const { store, refusal } = guardStore(named, places);
  if (refusal !== undefined) return { resolved: { ...resolved, store }, refusal };
  if (named.kind !== 'sqlite' || !isLinkedOutside(folder, named.address) || isTrusted()) return { resolved };
  const address = stateFile('fallbackStore', { ...places, projectFolder: folder });
  const why = `a link leads out of the project; until coxswain trust, runs are recorded in ${address}`;
  ignore({ path: 'store.address', why, file: named.address });
  return { resolved: { ...resolved, store: { kind: 'sqlite', address } } };
}

/** What code does cannot be compared, but its text can. */
function withCodeHash(resolved: ResolvedConfig, codeHash: string): ResolvedConfig {
  const { steering, hash } = resolved;
  return {
    ...resolved,
    hash: hashText(hash + codeHash),
    steering: { ...steering, madeFrom: hashText((steering.madeFrom ?? '') + codeHash) },
  };
}

/** A field that does not count without trust. */
interface UntrustedField {
  readonly path: string;
  readonly why: string;
}

/** A configuration with what needs trust left out. */
interface AppliedTrust {
  readonly config: CoxswainConfig;
  readonly ignored: readonly UntrustedField[];
}

/**
 * Leaves out of a project's configuration what does not count, by the table `FIELD_TRUST`.
 *
 * @param isTrusted  whether the user trusts the project
 */
function applyTrust(project: CoxswainConfig, isTrusted: boolean): AppliedTrust {
  const ignored: UntrustedField[] = [];
  const counting = (value: Readonly<Record<string, unknown>>, above: string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const path = above === '' ? name : `${above}.${name}`;
        const trust = trustOf(path);
        if (trust === undefined && isJsonObject(member)) {
          const rest = counting(member, path);
          return Object.keys(rest).length === 0 ? [] : [[name, rest] as const];
        }
        if (trust?.needs === 'none' || (isTrusted && trust?.needs === 'trust')) return [[name, member] as const];
        const where = trust?.needs === 'own' ? 'in your own configuration' : 'after coxswain trust';
        ignored.push({ path, why: `${trust?.why ?? 'has no class'}; it counts only ${where}` });
        return [];
      }),
    );
  // Only members were left out, and none is required.
  return { config: counting({ ...project }, ''), ignored };
}
