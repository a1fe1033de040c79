/** The public API of `coxswain/testing`: tools to test agents offline and to test adapters. */
export { adapterContract } from './adapter-contract.ts';
export type {
  AdapterHarness,
  AdapterOutcome,
  AdapterScene,
  AgentBelow,
  NeutralMessage,
  NeutralRequest,
} from './adapter-harness.ts';
export { adapterParity } from './adapter-parity.ts';
export type { ContractStore, StoredDamage } from './contract-store.ts';
export { SCENE_TOOL_SCHEMA } from './contract-scenes.ts';
export type { ContractExpectation, ContractTest, ContractTools } from './contract-tools.ts';
export { startFakeAnthropicServer } from './fake-anthropic-server.ts';
export { createFakeClock, type FakeClock } from './fake-clock.ts';
export type { CapturedRequest, FakeModelServer, FakeModelServerOptions } from './fake-model-server.ts';
export { startFakeOpenAiServer } from './fake-openai-server.ts';
export {
  mapModelCalls,
  type ModelCall,
  type ModelFault,
  type ModelFinish,
  type ModelFunction,
  type ModelScript,
  type ModelTurn,
  type ModelUsage,
} from './model-script.ts';
export { neutralAnthropicRequest, neutralChatRequest, neutralResponsesRequest } from './neutral-request.ts';
export { scriptedToolbox, type ScriptedToolbox, type ScriptedTools, type ToolRun } from './scripted-toolbox.ts';
export { trajectoryStoreContract, type StoreContractOptions } from './trajectory-store-contract.ts';
