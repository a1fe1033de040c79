import { present } from '../../core/base/present.ts';
import type { AgentEvent } from '../../core/records/agent-event.ts';
import type { ContentBlock, Usage } from '../../core/records/agent-message.ts';
import { plainContent } from '../host/content-blocks.ts';
import { textOfBlocks } from './content-blocks.ts';
import type { StreamedPart } from './read-message.ts';

/** An answer of the model that arrives in parts. It is reported when it is complete, or when one of its calls has a result. */
export class PendingAnswer {
  readonly messageId: string;
  /** True if the turn of the answer has started, because of the answer or of one of its calls. */
  hasTurn = false;
  #blocks: ContentBlock[] = [];
  #modelId: string | undefined;
  #stopReason: string | undefined;
  #errorMessage: string | undefined;
  #usage: Usage = {};
  #reportedUsage: Usage = {};

  constructor(messageId: string) {
    this.messageId = messageId;
  }

  /** Text of the unreported parts. */
  get text(): string {
    return textOfBlocks(this.#blocks);
  }
  get isReported(): boolean {
    return this.#blocks.length === 0;
  }
  /** True if the answer is the text of a failed request. */
  get isFault(): boolean {
    return this.#errorMessage !== undefined;
  }

  add(part: Omit<StreamedPart, 'messageId'>): void {
    this.#blocks.push(...part.blocks);
    this.#modelId = part.modelId ?? this.#modelId;
    this.#stopReason = part.stopReason ?? this.#stopReason;
    this.#errorMessage = part.errorMessage ?? this.#errorMessage;
    this.#usage = { ...this.#usage, ...part.usage };
  }

  /** Converts the unreported parts and the unreported usage to a message event. */
  tell(): AgentEvent {
    const usage = usageSince(this.#reportedUsage, this.#usage);
    this.#reportedUsage = this.#usage;
    const content = plainContent(this.#blocks);
    this.#blocks = [];
    return {
      type: 'message_end',
      message: {
        role: 'assistant',
        content,
        ...present({ stopReason: this.#stopReason, errorMessage: this.#errorMessage, modelId: this.#modelId, usage }),
      },
    };
  }
}

const TOKENS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

/** Returns the increase of each count. Undefined if no count increased. The counts of an answer grow while it streams. */
function usageSince(usageBefore: Usage, now: Usage): Usage | undefined {
  const addedCounts = TOKENS.flatMap((name) => {
    const count = now[name];
    const addedTokens = count === undefined ? 0 : count - (usageBefore[name] ?? 0);
    return count === undefined || (addedTokens <= 0 && usageBefore[name] !== undefined)
      ? []
      : [[name, addedTokens] as const];
  });
  return addedCounts.length === 0 ? undefined : Object.fromEntries(addedCounts);
}
