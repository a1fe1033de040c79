export type { AcknowledgeTool, AnswerSchema } from './acknowledge-tool.ts';
export type { RefusalOptions, RunSource } from '../host/adapter-options.ts';
export { aiSdkCapabilities } from './capabilities.ts';
export { coxswainAgent, type AgentSettings, type CoxswainAgent, type CoxswainAgentOptions } from './coxswain-agent.ts';
export type { LanguageModelShape, PromptMessage } from './sdk-shapes.ts';
