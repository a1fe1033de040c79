export {
  type AcknowledgeTool,
  openaiSteering,
  type ExecuteCall,
  type OpenAiOptions,
  type OpenAiSteering,
  type GuidanceRole,
} from './openai-steering.ts';
export { openaiCapabilities } from '../capabilities.ts';
export type {
  ChatTextPart,
  ChatToolCall,
  ChatToolMessage,
  CustomToolCallOutput,
  FunctionCallOutput,
  InputTextPart,
  ResponsesCustomCall,
  ToolCall,
  ResponsesFunctionCall,
  RunnableTool,
} from './sdk-shapes.ts';
export type { Fetch } from '../host/steered-fetch.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
