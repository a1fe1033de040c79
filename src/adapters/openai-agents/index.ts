export { type AcknowledgeTool, coxswainAgents, type AgentsOptions, type AgentsSteering } from './coxswain-agents.ts';
export { openaiAgentsCapabilities } from '../capabilities.ts';
export type { Model, ModelProvider, RunnerShape } from './sdk-shapes.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
