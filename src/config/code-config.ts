import { messageOf } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { resolveSteering } from '../steering/resolve-steering.ts';
import { createRedactor, type RedactionOptions } from '../redaction/redactor.ts';
import { RunFold } from '../run/run-fold.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';

/** What only code can say. It comes after what the data says: a list is added to. */
export interface CodeSection extends Pick<
  SteeringOptions,
  'feedback' | 'observers' | 'guidance' | 'models' | 'detectors' | 'slices'
> {
  /** Rules and exceptions with patterns and functions, besides those of `redaction`. */
  readonly redaction?: Pick<RedactionOptions, 'rules' | 'allow'>;
}

/** What `coxswain.config.ts` exports as its default: the data, and code. */
export interface CodeConfig extends CoxswainConfig {
  readonly code?: CodeSection;
}

/** A code configuration, with its types checked in the editor: `export default defineConfig({ … })`. */
export function defineConfig(config: CodeConfig): CodeConfig {
  return config;
}

/** The data and the code that a module exports. */
export interface ReadModule {
  /** For `readConfig`. */
  readonly data: unknown;
  readonly code: CodeSection | undefined;
  readonly problems: readonly ConfigProblem[];
}

const LISTS = ['feedback', 'observers', 'guidance', 'models', 'detectors', 'slices'] as const;

/** Takes a module of a configuration apart. @param exported the module's namespace */
export function readModule(exported: unknown): ReadModule {
  const given: unknown = isJsonObject(exported) ? exported['default'] : undefined;
  if (!isJsonObject(given)) {
    const message = 'has no configuration as its default export; write: export default defineConfig({ … })';
    return { data: {}, code: undefined, problems: [{ path: '', kind: 'file', message }] };
  }
  const { code, ...data } = given;
  if (code === undefined) return { data, code: undefined, problems: [] };
  if (!isJsonObject(code)) return { data, code: undefined, problems: [wrong('code', 'must be an object')] };
  const problems = Object.entries(code).flatMap(([name, value]) => {
    if (name === 'redaction') return isJsonObject(value) ? [] : [wrong('code.redaction', 'must be an object')];
    if (!LISTS.some((known) => known === name)) {
      return [wrong(`code.${name}`, `there is no such field; there are ${LISTS.join(', ')}, redaction`)];
    }
    return value === undefined || Array.isArray(value) ? [] : [wrong(`code.${name}`, 'must be a list')];
  });
  // What is in the lists is tried before it is used.
  return { data, code: problems.length === 0 ? code : undefined, problems };
}

function wrong(path: string, message: string): ConfigProblem {
  return { path, kind: 'value', message };
}

/**
 * Adds code to a resolved configuration, if a run can start with it: a provider without a name, or two of one name, would
 * else be found only when the agent is at work.
 *
 * @returns the configuration as it was, and why, when a run cannot start
 */
export function addCode(
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
          const more = code[name];
          return more === undefined ? [] : [[name, [...(steering[name] ?? []), ...more]]];
        }),
      ),
    },
    redaction: resolved.redaction === false ? false : withRedaction(resolved.redaction, code.redaction ?? {}),
  };
  try {
    // What `startRun` does, without what records: a hook process would load that for nothing.
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
