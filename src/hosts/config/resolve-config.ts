import { isAbsolute, join, resolve } from 'node:path';
import { present } from '../../core/base/json.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import type { TimeSpan } from '../../core/base/deadline.ts';
import { hashText } from '../../core/base/hash.ts';
import { parseBytes, parseDuration } from '../../core/base/number-text.ts';
import type { RedactionOptions } from '../../core/redact/redactor.ts';
import { projectStoreFile } from '../../core/node/git-folder.ts';
import { parseStoreAddress, shownAddress, storePath, type StoreKind } from '../../stores/store-address.ts';
import type {
  CompletionSection,
  CoxswainConfig,
  GcSection,
  RedactionSection,
  StoreSection,
  DeadlineFrom,
  NotifySection,
} from './coxswain-config.ts';
import { COMPLETION_DEFAULTS, type CompletionCheck } from '../../core/run/completion-check.ts';
import { steeringOf } from './steering-of.ts';
import type { Budget } from '../../core/base/budget.ts';
import type { ModelPrices } from '../../core/records/answer-cost.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';

export interface ResolveConfigOptions {
  /** The absolute base folder of relative paths: the project folder. */
  readonly folder: string;
  /** The absolute path for `~/`. */
  readonly homeFolder: string;
  /** Environment with `XDG_DATA_HOME`; default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Fills in all defaults.
 *
 * @param config  a result of `decodeConfig`; with it, neither this function nor starting a run throws
 */
export function resolveConfig(config: CoxswainConfig, options: ResolveConfigOptions): ResolvedConfig {
  const { budget, holdout = 0, deadlineFrom = 'session', forceTurnAtStop = false } = config;
  const deadline = spanOf(config.deadline);
  const completion = completionOf(config.completion ?? {}, options);
  return {
    steering: steeringOf(config),
    redaction: redactionOf(config.redaction ?? {}, options.folder),
    ...present({ deadline }),
    deadlineFrom,
    ...present({ budget, prices: config.prices }),
    holdout,
    forceTurnAtStop,
    store: storeOf(config.store ?? {}, options),
    gc: gcOf(config.gc ?? {}),
    ...present({ completion, notify: config.notify }),
    hash: configHash(config),
  };
}

/**
 * Returns a hash that is equal for equal configurations. Ignores the redaction key, the password of the store, and notifications.
 */
function configHash({ $schema: _schema, notify: _notify, redaction, store, ...config }: CoxswainConfig): string {
  const { key: _key, ...open } = redaction ?? {};
  const { address } = store ?? {};
  const shown = address === undefined ? {} : { store: { address: shownAddress(address) } };
  return hashText(canonicalJson({ ...config, ...shown, redaction: open }));
}

function spanOf(deadline: CoxswainConfig['deadline']): TimeSpan | undefined {
  if (typeof deadline !== 'string') return deadline;
  const durationMs = parseDuration(deadline);
  return durationMs === undefined ? undefined : { seconds: durationMs / 1_000 };
}

function redactionOf(section: RedactionSection, folder: string): RedactionOptions | false {
  if (section.enabled === false) return false;
  const { mode, key, rules, off, allow } = section;
  return {
    ...present({ mode }),
    ...(mode === 'structureOnly' ? { key: key ?? weakKeyOf(folder) } : {}),
    ...(rules === undefined
      ? {}
      : { rules: rules.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern) })) }),
    ...present({ off, allow }),
  };
}

/**
 * Returns a key for `structureOnly` if the configuration has none. It is the same for all processes of the project. This key can
 * be guessed, which is reported as a problem. The alternative would be to store the content.
 */
function weakKeyOf(folder: string): string {
  return hashText(folder) + hashText(folder, 1);
}

function pathOf(path: string, { folder, homeFolder }: ResolveConfigOptions): string {
  if (path === '~' || path.startsWith('~/')) return join(homeFolder, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(folder, path);
}

function storeOf({ address }: StoreSection, options: ResolveConfigOptions): ResolvedStore {
  if (address === undefined) {
    const { env = process.env, folder, homeFolder } = options;
    return { kind: 'sqlite', address: projectStoreFile(folder, { env, homeFolder }) };
  }
  const { kind } = parseStoreAddress(address);
  const path = storePath(address);
  if (kind === 'path') return { kind: 'sqlite', address: pathOf(path ?? '', options) };
  return { kind, address: path === undefined ? address : `${kind}:${pathOf(path, options)}` };
}

function gcOf({ olderThan, maxSize }: GcSection): ResolvedGc {
  const olderThanMs = olderThan === undefined ? undefined : parseDuration(olderThan);
  const maxBytes = maxSize === undefined ? undefined : parseBytes(maxSize);
  return present({ olderThanMs, maxBytes });
}

function completionOf(section: CompletionSection, options: ResolveConfigOptions): CompletionCheck | undefined {
  const { files = [], command, timeout, maxAttempts = COMPLETION_DEFAULTS.maxAttempts } = section;
  if (files.length === 0 && command === undefined) return undefined;
  return {
    files: files.map((file) => pathOf(file, options)),
    ...present({ command }),
    timeoutMs: (timeout === undefined ? undefined : parseDuration(timeout)) ?? COMPLETION_DEFAULTS.timeoutMs,
    maxAttempts,
  };
}

/** A configuration with all defaults filled in. */
export interface ResolvedConfig {
  /** Options for `createCoxswain({ ...steering, redaction, store })`. */
  readonly steering: SteeringOptions;
  readonly redaction: RedactionOptions | false;
  /** Absent if there is no deadline. */
  readonly deadline?: TimeSpan;
  readonly deadlineFrom: DeadlineFrom;
  /** Absent if there is no limit. */
  readonly budget?: Budget;
  /** Configured prices, in addition to the built-in prices. */
  readonly prices?: ModelPrices;
  /** Share (0 to 1) of episodes whose advice is withheld. */
  readonly holdout: number;
  /** True if advice may prevent the agent from stopping, at most once per run. */
  readonly forceTurnAtStop: boolean;
  readonly store: ResolvedStore;
  readonly gc: ResolvedGc;
  /** Absent if nothing is checked. */
  readonly completion?: CompletionCheck;
  /** Absent if notifications are disabled. */
  readonly notify?: NotifySection;
  /** 16 hexadecimal digits. Equal for equal configurations, regardless of the order and layout of the files. */
  readonly hash: string;
}

export interface ResolvedStore {
  readonly kind: StoreKind;
  /** An absolute path, or a database URL including its password. `shownAddress` removes the password. */
  readonly address: string;
}

/** Selects the runs to delete. An absent limit deletes nothing. */
export interface ResolvedGc {
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}
