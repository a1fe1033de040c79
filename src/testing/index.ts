/** The public API of `coxswain/testing`: tools to test agents offline. */
export { startFakeAnthropicServer } from './fake-anthropic-server.ts';
export { createFakeClock, type FakeClock } from './fake-clock.ts';
export {
  type CapturedRequest,
  type FakeModelServer,
  type FakeModelServerOptions,
  type ModelCall,
  type ModelFault,
  type ModelFinish,
  type ModelFunction,
  type ModelScript,
  type ModelTurn,
  type ModelUsage,
} from './model-script.ts';
export { startFakeOpenAiServer } from './fake-openai-server.ts';
