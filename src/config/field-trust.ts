import type { CoxswainConfig } from './coxswain-config.ts';

/** Whether a field counts in the configuration of a project. */
export interface FieldTrust {
  /** `none`: it counts. `trust`: it counts only after `coxswain trust`. `own`: it never counts there. */
  readonly needs: 'none' | 'trust' | 'own';
  /** What a repository could do with it; for `none`, why it can do nothing. */
  readonly why: string;
}

/** A field, or a field of a section. */
type TrustPath =
  | keyof CoxswainConfig
  | { readonly [Name in 'redaction' | 'completion']: `${Name}.${keyof Required<CoxswainConfig>[Name] & string}` }[
      | 'redaction'
      | 'completion'];

/** Sections whose fields stand in the table one by one. */
type Split = 'redaction' | 'completion';

function needsTrust(why: string): FieldTrust {
  return { needs: 'trust', why };
}

/**
 * What each field could do in the hands of somebody else's repository. A field of a section that does not stand here has
 * the class of its section. A new field of the configuration does not compile without a row.
 */
export const FIELD_TRUST: Readonly<Record<Exclude<TrustPath, Split>, FieldTrust>> = {
  $schema: { needs: 'none', why: 'nothing reads it' },
  standard: needsTrust('silences the standard set'),
  mode: needsTrust('silences all advice'),
  holdout: needsTrust('withholds advice'),
  deadline: needsTrust('makes an agent wrap up early, or takes your own deadline away'),
  deadlineFrom: needsTrust('moves your own deadline'),
  budget: needsTrust('makes an agent wrap up early, or takes your own budget away'),
  stop: needsTrust('stops your agents'),
  prices: { needs: 'none', why: 'only figures of cost that are printed follow from it' },
  delivery: needsTrust('silences all feedback but the first'),
  cadence: needsTrust('lets one provider silence another'),
  noise: needsTrust('silences advice'),
  maxGuidancePerTurn: needsTrust('silences guidance'),
  providerTimeLimitMs: needsTrust('switches providers off that take longer'),
  forceTurnAtStop: needsTrust('forces turns'),
  feedback: needsTrust('silences feedback, or has the agent read the repository’s text as advice'),
  guidance: needsTrust('silences guidance, or has the agent read the repository’s text as advice'),
  detectors: needsTrust('switches detection off, or raises its thresholds'),
  tools: needsTrust('hides calls from detection by declaring what a tool does'),
  'redaction.enabled': needsTrust('stores your secrets'),
  'redaction.mode': needsTrust('stores no content, or content that your own configuration leaves out'),
  'redaction.key': needsTrust('makes fingerprints that whoever knows the key can guess'),
  'redaction.rules': needsTrust('takes what it likes out of records, or holds the agent up with a slow pattern'),
  'redaction.off': needsTrust('stores secrets of a kind'),
  'redaction.allow': needsTrust('stores the secrets it names'),
  store: needsTrust('records into a file of its choice'),
  gc: needsTrust('deletes runs'),
  'completion.files': needsTrust('forces turns'),
  'completion.command': needsTrust('runs a program'),
  'completion.timeout': needsTrust('holds the agent up, or fails your own check'),
  'completion.maxAttempts': needsTrust('forces turns, or ends your own check early'),
  notify: { needs: 'own', why: 'sends what your agents do to whom it likes, or runs a program' },
};

/**
 * The class of a field.
 *
 * @param path  as in `configFields`, such as `guidance.doomLoop.maxRepetitions`
 * @returns undefined for a field without a class, and for a section whose fields have one each
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
