/** Public entry `coxswain/anthropic`. */
export { anthropicCapabilities } from '../capabilities.ts';
export {
  anthropicSteering,
  type AnthropicOptions,
  type AnthropicSteering,
  type ResultText,
  type RunnableTool,
  type ToolResult,
  type ToolUse,
} from './anthropic-steering.ts';
export type { Fetch } from '../host/steered-fetch.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
