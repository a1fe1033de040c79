export type { AcknowledgeTool } from './acknowledge-tool.ts';
export { openaiCapabilities } from './capabilities.ts';
export { openaiSteering, type ExecuteCall, type OpenAiOptions, type OpenAiSteering } from './openai-steering.ts';
export type {
  ChatTextPart,
  ChatToolCall,
  ChatToolMessage,
  CustomToolCallOutput,
  FunctionCallOutput,
  InputTextPart,
  ResponsesCustomCall,
  ResponsesFunctionCall,
  RunnableTool,
} from './sdk-shapes.ts';
export type { Fetch } from '../host/steered-fetch.ts';
export type { GuidanceRole } from './to-output.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
