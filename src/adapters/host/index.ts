/** `coxswain/host`: the parts that all adapters share. */
export { isJsonObject, present } from '../../core/base/json.ts';
export type { AgentMessage, ContentBlock, MessageContent, Usage } from '../../core/records/agent-message.ts';
export type { EndReason } from '../../core/records/words.ts';
export {
  type AdapterCapabilities,
  type PointCapability,
  requestCapabilities,
  type RequestNotes,
} from './adapter-capabilities.ts';
export {
  checkAdapter,
  currentRun,
  type AdapterOptions,
  type RefusalOptions,
  type RunSource,
} from './adapter-options.ts';
export type { OutgoingRequest } from './advice-under-way.ts';
export { contentBlocks, plainContent, resultOf, usageOf } from './content-blocks.ts';
export {
  Conversation,
  type ConversationAnswer,
  type ConversationOptions,
  type RequestNews,
  type SentRequest,
  type ShownResult,
} from './conversation.ts';
export { Conversations, type Followed } from './conversations.ts';
export { guarded, type Guard } from './guarded.ts';
export type { CallResult, IssuedCall } from './issued-call.ts';
export type { OpenCall } from './open-calls.ts';
export { troubleOf, type EndedWith, type Trouble } from './run-outcome.ts';
export { reportUnseen } from './report-unseen.ts';
export { RunScope, type ScopedTool } from './run-scope.ts';
export { runTool, type ToolParts, type ToolReturn, type ToolWork } from './run-tool.ts';
export { unseenItems } from './unseen-items.ts';
