/** Public entry `coxswain/google-genai`. */
export { googleGenAiCapabilities } from '../capabilities.ts';
export {
  googleGenAiSteering,
  type CallableTool,
  type FunctionCall,
  type FunctionResponsePart,
  type GoogleGenAiOptions,
  type GoogleGenAiSteering,
} from './google-genai-steering.ts';
export type { Fetch } from '../host/steered-fetch.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
