import type { CoxswainConfig } from './coxswain-config.ts';

/** The trust level that a field of a project configuration requires. */
export interface FieldTrust {
  /** `none`: the field always applies. `trust`: it applies after `coxswain trust`. `own`: it never applies in a project file. */
  readonly needs: 'none' | 'trust' | 'own';
  /** The harm that a malicious repository could cause with this field. For `none`: the reason why it is harmless. */
  readonly why: string;
}

/** Sections whose fields have separate trust levels. */
type Split = 'redaction' | 'completion';

type TrustPath =
  | Exclude<keyof CoxswainConfig, Split>
  | { readonly [Name in Split]: `${Name}.${keyof Required<CoxswainConfig>[Name] & string}` }[Split];

function needsTrust(reason: string): FieldTrust {
  return { needs: 'trust', why: reason };
}

/**
 * The trust level of each field, according to the harm that a malicious repository could cause. A nested field without an entry
 * has the trust level of its section. A new configuration field without an entry is a type error.
 */
export const FIELD_TRUST: Readonly<Record<TrustPath, FieldTrust>> = {
  $schema: { needs: 'none', why: 'nothing reads it' },
  standard: needsTrust('silences the standard set'),
  mode: needsTrust('silences all advice'),
  holdout: needsTrust('withholds advice'),
  deadline: needsTrust('makes an agent wrap up early, or takes your own deadline away'),
  deadlineFrom: needsTrust('moves your own deadline'),
  budget: needsTrust('makes an agent wrap up early, or takes your own budget away'),
  stop: needsTrust('stops your agents'),
  prices: { needs: 'none', why: 'it only affects printed costs' },
  delivery: needsTrust('silences all feedback but the first'),
  cadence: needsTrust('lets one provider silence another'),
  noise: needsTrust('silences advice'),
  maxGuidancePerTurn: needsTrust('silences guidance'),
  providerTimeLimitMs: needsTrust('switches off slower providers'),
  forceTurnAtStop: needsTrust('forces turns'),
  feedback: needsTrust('silences feedback, or has the agent read the repository’s text as advice'),
  guidance: needsTrust('silences guidance, or has the agent read the repository’s text as advice'),
  detectors: needsTrust('switches detection off, or raises its thresholds'),
  tools: needsTrust('hides calls from detection by declaring what a tool does'),
  'redaction.enabled': needsTrust('stores your secrets'),
  'redaction.mode': needsTrust('stores no content, or content that your own configuration leaves out'),
  'redaction.key': needsTrust('makes fingerprints guessable for anyone who knows the key'),
  'redaction.rules': needsTrust('removes any text from records, or delays the agent with a slow pattern'),
  'redaction.off': needsTrust('stores some kinds of secrets'),
  'redaction.allow': needsTrust('stores the secrets it names'),
  store: needsTrust('records to a file of its choice'),
  gc: needsTrust('deletes runs'),
  'completion.files': needsTrust('forces turns'),
  'completion.command': needsTrust('runs a program'),
  'completion.timeout': needsTrust('delays the agent, or fails your own check'),
  'completion.maxAttempts': needsTrust('forces turns, or ends your own check early'),
  notify: { needs: 'own', why: 'sends the work of your agents anywhere, or runs a program' },
};

/**
 * Returns the trust level of a field.
 *
 * @param path  a path from `configFields`, such as `guidance.doomLoop.maxRepetitions`
 * @returns undefined for a field without an entry, and for a section whose fields have separate entries
 */
export function trustOf(path: string): FieldTrust | undefined {
  const table: Readonly<Record<string, FieldTrust>> = FIELD_TRUST;
  const steps = path.replaceAll('[]', '').split('.');
  for (let length = steps.length; length > 0; length -= 1) {
    const name = steps.slice(0, length).join('.');
    if (Object.hasOwn(table, name)) return table[name];
  }
  return undefined;
}
