import { isAbsolute, join, resolve } from 'node:path';

import { present } from '../base/present.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { TimeSpan } from '../base/deadline.ts';
import { hashText } from '../base/hash.ts';
import { parseBytes } from '../base/parse-bytes.ts';
import { parseDuration } from '../base/parse-duration.ts';
import type { RedactionOptions } from '../redaction/redactor.ts';
import { parseStoreAddress, shownAddress } from '../store/store-address.ts';
import type {
  CompletionSection,
  CoxswainConfig,
  GcSection,
  RedactionSection,
  StoreSection,
} from './coxswain-config.ts';
import { COMPLETION_DEFAULTS, type CompletionCheck } from '../run/completion-check.ts';
import type { ResolvedConfig, ResolvedGc, ResolvedStore } from './resolved-config.ts';
import { steeringOf } from './steering-of.ts';

/** Where relative paths begin. */
export interface ResolveConfigOptions {
  /** Absolute: the project's folder. */
  readonly folder: string;
  /** Absolute: what `~/` stands for. */
  readonly homeFolder: string;
}

const DEFAULT_ADDRESS = '.coxswain/runs.db';

/**
 * Fills in every default.
 *
 * @param config as `decodeConfig` gives it; such a one never makes this throw, nor the start of a run with the result
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

/** Equal for configurations that say the same. The key of redaction, the password of the store and who is notified are no part of it. */
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
 * Where a key is missing, one that is the same for every process of the project. It can be guessed, so it is a problem
 * too; storing the content because of a missing key would be worse.
 */
function weakKeyOf(folder: string): string {
  return hashText(folder) + hashText(folder, 1);
}

/** An absolute path from one of the configuration: relative ones begin at the folder, `~/` at home. */
function pathOf(path: string, { folder, homeFolder }: ResolveConfigOptions): string {
  if (path === '~' || path.startsWith('~/')) return join(homeFolder, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(folder, path);
}

/** Where a store section says that runs are recorded. */
function storeOf({ address = DEFAULT_ADDRESS }: StoreSection, options: ResolveConfigOptions): ResolvedStore {
  const parsed = parseStoreAddress(address);
  return parsed.kind === 'path'
    ? { kind: 'sqlite', address: pathOf(parsed.path, options) }
    : { kind: 'postgres', address };
}

function gcOf({ olderThan, maxSize }: GcSection): ResolvedGc {
  const olderThanMs = olderThan === undefined ? undefined : parseDuration(olderThan);
  const maxBytes = maxSize === undefined ? undefined : parseBytes(maxSize);
  return { ...present({ olderThanMs, maxBytes }) };
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
