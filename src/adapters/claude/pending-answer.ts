import { present } from '../../base/present.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import type { ContentBlock, Usage } from '../../records/agent-message.ts';
import { plainContent } from '../../host/content-blocks.ts';
import { textOfBlocks } from './content-blocks.ts';
import type { StreamedPart } from './read-message.ts';

/** A model's answer that arrives in parts. Reported once it is complete, or once one of its calls has a result. */
export class PendingAnswer {
  readonly messageId: string;
  /** Its turn has begun, by itself or by one of its calls. */
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
  /** A failed request, shown in place of an answer. */
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

  /** The unreported parts as a message, with the unreported usage. */
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

/** The increase; undefined if nothing increased. Each count of an answer grows while it streams. */
function usageSince(before: Usage, now: Usage): Usage | undefined {
  const more = TOKENS.flatMap((name) => {
    const count = now[name];
    const rest = count === undefined ? 0 : count - (before[name] ?? 0);
    return count === undefined || (rest <= 0 && before[name] !== undefined) ? [] : [[name, rest] as const];
  });
  return more.length === 0 ? undefined : Object.fromEntries(more);
}
