export {
  type AcknowledgeTool,
  type AnswerSchema,
  coxswainAgent,
  type AgentSettings,
  type CoxswainAgent,
} from './coxswain-agent.ts';
export type { RefusalOptions, RunSource } from '../host/adapter-options.ts';
export { aiSdkCapabilities } from '../capabilities.ts';
export type { LanguageModelShape } from './sdk-shapes.ts';
