import { messageOf } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { resolveSteering } from '../../core/steering/resolve-steering.ts';
import { createRedactor, type RedactionOptions } from '../../core/redact/redactor.ts';
import { RunFold } from '../../core/run/run-fold.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';

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

/** The JSON fields and the code of a configuration module. */
export interface ReadModule {
  /** The JSON fields, as input of `readConfig`. */
  readonly data: unknown;
  readonly code: CodeSection | undefined;
  readonly problems: readonly ConfigProblem[];
}

const LISTS = ['feedback', 'observers', 'guidance', 'models', 'detectors', 'slices'] as const;

/** Splits a configuration module into JSON fields and code. @param exportedConfig  the namespace of the module */
export function readModule(exportedConfig: unknown): ReadModule {
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

/**
 * Adds code to a resolved configuration if a run can start with the result. This check finds a provider without a name or a
 * duplicate name before the agent runs.
 *
 * @returns the unchanged configuration and the problem if a run cannot start
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
