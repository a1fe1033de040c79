import type { CoxswainConfig, RedactionSection } from './coxswain-config.ts';

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

/** What decides besides the configuration itself. */
export interface ApplyTrustOptions {
  /** What the user's own configuration says. */
  readonly below: CoxswainConfig;
  /** True when a store that a configuration names lies outside the project. */
  readonly storeLeadsOutside: (store: NonNullable<CoxswainConfig['store']>) => boolean;
}

const ADVICE = 'counts only from your own configuration, or after: coxswain trust';

/**
 * Leaves out of a project's configuration what somebody else's repository must not decide: to run a command, to write
 * outside the project, to delete runs of other projects, or to store more than the user wants stored. What takes more
 * out, or only changes what is said, stays.
 */
export function applyTrust(project: CoxswainConfig, { below, storeLeadsOutside }: ApplyTrustOptions): AppliedTrust {
  const ignored: UntrustedField[] = [];
  const ignore = (path: string, what: string): void => {
    ignored.push({ path, why: `${what} ${ADVICE}` });
  };
  const { completion, store, redaction, gc, ...config } = project;
  const { command, ...check } = completion ?? {};
  if (command !== undefined) ignore('completion.command', 'a command');
  const isOutside = store !== undefined && storeLeadsOutside(store);
  if (isOutside) ignore('store', 'a store outside the project, or among the files of git,');
  const stays = isOutside || store === undefined ? below.store : store;
  const isShared = gc !== undefined && stays !== undefined && storeLeadsOutside(stays);
  if (isShared) ignore('gc', 'deleting from a store that other projects may share');
  return {
    config: {
      ...config,
      ...(completion === undefined ? {} : { completion: check }),
      ...(store === undefined || isOutside ? {} : { store }),
      ...(gc === undefined || isShared ? {} : { gc }),
      ...(redaction === undefined ? {} : { redaction: strictRedaction(redaction, below.redaction ?? {}, ignore) }),
    },
    ignored,
  };
}

function strictRedaction(
  project: RedactionSection,
  below: RedactionSection,
  ignore: (path: string, what: string) => void,
): RedactionSection {
  const { enabled, mode, key, rules, off, allow } = project;
  const weakens = enabled === false;
  if (weakens) ignore('redaction.enabled', 'switching redaction off');
  const isOff = off !== undefined && off.length > 0;
  if (isOff) ignore('redaction.off', 'switching rules off');
  const allows = allow !== undefined && allow.length > 0;
  if (allows) ignore('redaction.allow', 'letting secrets through');
  const opens = mode === 'secrets' && below.mode === 'structureOnly';
  if (opens) ignore('redaction.mode', 'storing content, where your own configuration stores only structure,');
  if (key !== undefined) ignore('redaction.key', 'a key that the repository knows');
  // A pattern that takes seconds would hold up the agent at every call.
  if (rules !== undefined && rules.length > 0) ignore('redaction.rules', 'a pattern, which may take very long,');
  return {
    ...(enabled === undefined || weakens ? {} : { enabled }),
    ...(mode === undefined || opens ? {} : { mode }),
    ...(off === undefined || isOff ? {} : { off }),
    ...(allow === undefined || allows ? {} : { allow }),
  };
}
