import { isJsonObject } from '../base/json.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { trustOf } from './field-trust.ts';

/** A field that does not count without trust. */
export interface UntrustedField {
  readonly path: string;
  readonly why: string;
}

/** A configuration with what needs trust left out. */
export interface AppliedTrust {
  readonly config: CoxswainConfig;
  readonly ignored: readonly UntrustedField[];
}

/**
 * Leaves out of a project's configuration what does not count, by the table `FIELD_TRUST`.
 *
 * @param isTrusted  whether the user trusts the project
 */
export function applyTrust(project: CoxswainConfig, isTrusted: boolean): AppliedTrust {
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
