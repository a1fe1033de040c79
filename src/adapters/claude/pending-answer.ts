import { present } from '../../base/present.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import type { ContentBlock, Usage } from '../../records/agent-message.ts';
import { plainContent } from '../../host/content-blocks.ts';
import { textOfBlocks } from './content-blocks.ts';
import type { StreamedPart } from './read-message.ts';

/** A model's answer that arrives part by part. Told of once it is whole, or once a result of it is there. */
export class PendingAnswer {
  readonly messageId: string;
  /** Its turn has begun, by itself or by one of its calls. */
  hasTurn = false;
  #blocks: ContentBlock[] = [];
  #modelId: string | undefined;
  #stopReason: string | undefined;
  #errorMessage: string | undefined;
  #usage: Usage = {};
  #told: Usage = {};

  constructor(messageId: string) {
    this.messageId = messageId;
  }

  /** Text of the parts that were not told of yet. */
  get text(): string {
    return textOfBlocks(this.#blocks);
  }
  get isTold(): boolean {
    return this.#blocks.length === 0;
  }
  /** No model gave it: a failed request stands in its place. */
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

  /** The parts that were not told of yet as a message, with the use that was not told of yet. */
  tell(): AgentEvent {
    const usage = usageSince(this.#told, this.#usage);
    this.#told = this.#usage;
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

/** What came on top; undefined when nothing did. Each count of an answer grows while it streams. */
function usageSince(before: Usage, now: Usage): Usage | undefined {
  const more = TOKENS.flatMap((name) => {
    const count = now[name];
    const rest = count === undefined ? 0 : count - (before[name] ?? 0);
    return count === undefined || (rest <= 0 && before[name] !== undefined) ? [] : [[name, rest] as const];
  });
  return more.length === 0 ? undefined : Object.fromEntries(more);
}
