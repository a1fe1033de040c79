export { claudeAgentSdkCapabilities } from '../capabilities.ts';
export { claudeHooks, type ClaudeHookOptions } from './claude-hooks.ts';
export {
  coxswainTools,
  type ClaudeTool,
  type ClaudeToolHandles,
  type ClaudeToolOptions,
  type ZodHandle,
  type ZodText,
} from './coxswain-tools.ts';
export { observed, type ObserveOptions } from './observed.ts';
export type {
  ClaudeContextEvent,
  ClaudeHookAnswer,
  ClaudeHookCallback,
  ClaudeHookEvent,
  ClaudeHookMatcher,
  ClaudeHooks,
} from './sdk-shapes.ts';
export type { AdapterOptions } from '../host/adapter-options.ts';
