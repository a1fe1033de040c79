/** Public entry `coxswain/ai-sdk`. */
export type { AcknowledgeTool, AnswerSchema } from './acknowledge-tool.ts';
export { aiSdkCapabilities } from './capabilities.ts';
export type { ContextTransform, ContextTransformContext } from './context-transform.ts';
export { coxswainAgent, type AgentSettings, type CoxswainAgent, type CoxswainAgentOptions } from './coxswain-agent.ts';
export type { OutputEscalation } from './output-escalation.ts';
export type { LanguageModelShape, PromptMessage } from './sdk-shapes.ts';
export type { ToolGate, ToolGateContext } from './tool-gate.ts';
