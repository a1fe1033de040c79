export type { AcknowledgeTool } from './acknowledge-tool.ts';
export { openaiAgentsCapabilities } from './capabilities.ts';
export { coxswainAgents, type AgentsOptions, type AgentsSteering } from './coxswain-agents.ts';
export type { Model, ModelProvider, RunnerShape } from './sdk-shapes.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
