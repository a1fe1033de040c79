/** The package entry `coxswain/config`. */
export type {
  ChoiceShape,
  EitherShape,
  FlagShape,
  LazyShape,
  ListShape,
  MapShape,
  NumberShape,
  ObjectShape,
  Shape,
  TextShape,
} from '../../core/base/shape.ts';
export { defineConfig, type CodeConfig, type CodeSection, loadConfig, loadConfigSync } from './load-config.ts';
export { configFields, type ConfigField, decodeConfig, type DecodedConfig } from './decode-config.ts';
export { problemText, type ConfigProblem } from './config-problem.ts';
export type {
  BankEntry,
  CompletionSection,
  Condition,
  CoxswainConfig,
  DeadlineFrom,
  DetectorSection,
  DurationText,
  FeedbackSection,
  GcSection,
  GuidanceSection,
  NotifyReason,
  NotifySection,
  RedactionSection,
  StaticFeedbackConfig,
  StoreSection,
  Switch,
  TriggerConfig,
} from './coxswain-config.ts';
export type { ConfigSource, LoadConfigOptions, LoadedConfig } from './loaded-config.ts';
export {
  resolveConfig,
  type ResolveConfigOptions,
  type ResolvedConfig,
  type ResolvedGc,
  type ResolvedStore,
  steeringOf,
} from './resolve-config.ts';
export type { StoreKind } from '../../stores/store-address.ts';
export { sweepable, type SweptConfig } from './sweepable.ts';
export type { GuidanceLimits } from './providers.ts';
