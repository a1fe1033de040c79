import type { AgentMessage } from '../../core/records/agent-message.ts';
import type { PromptMessage } from './sdk-shapes.ts';
import { systemTextOf, unansweredMessages } from './to-events.ts';

/** The content of a request that no earlier request contained. */
export interface News {
  readonly messages: readonly AgentMessage[];
  /** True if the user has written a message, which gives the agent a task. */
  readonly isTask: boolean;
}

/**
 * Finds new content in requests. Each request repeats the whole conversation, so the instructions and messages of the last
 * request are kept for comparison.
 */
export class PromptNews {
  #system = '';
  #unansweredText = '';

  /**
   * Returns the new content of a request.
   *
   * @param isFresh  true if the last request has its final answer; any user message is then new, even if its text is the same
   */
  take(prompt: readonly PromptMessage[], isFresh: boolean): News {
    const system = systemTextOf(prompt);
    const users = unansweredMessages(prompt);
    const unansweredText = users.map(({ content }) => JSON.stringify(content)).join('\n');
    // A retry contains nothing new. The same applies to a host that repeats the same message at the end of every request.
    const isTask = users.length > 0 && (isFresh || unansweredText !== this.#unansweredText);
    const isNewSystem = system !== '' && system !== this.#system;
    this.#system = system;
    this.#unansweredText = unansweredText;
    return {
      messages: [...(isNewSystem ? [{ role: 'system', content: system } as const] : []), ...(isTask ? users : [])],
      isTask,
    };
  }
}
