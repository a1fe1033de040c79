import type { AgentMessage } from '../../records/agent-message.ts';
import type { PromptMessage } from './sdk-shapes.ts';
import { systemTextOf, unansweredMessages } from './to-events.ts';

/** The part of a request that no earlier request contained. */
export interface News {
  readonly messages: readonly AgentMessage[];
  /** The user has written: the agent has a task. */
  readonly isTask: boolean;
}

/** Finds new content in requests that each repeat the whole conversation. Keeps the last instructions and messages. */
export class PromptNews {
  #system = '';
  #unanswered = '';

  /**
   * @param isFresh  the last request has its final answer, so any user message is new, even with the same words
   */
  take(prompt: readonly PromptMessage[], isFresh: boolean): News {
    const system = systemTextOf(prompt);
    const users = unansweredMessages(prompt);
    const unanswered = users.map(({ content }) => JSON.stringify(content)).join('\n');
    // A retry, or a host that repeats the same message at the end of every request, has no news.
    const isTask = users.length > 0 && (isFresh || unanswered !== this.#unanswered);
    const isNewSystem = system !== '' && system !== this.#system;
    this.#system = system;
    this.#unanswered = unanswered;
    return {
      messages: [...(isNewSystem ? [{ role: 'system', content: system } as const] : []), ...(isTask ? users : [])],
      isTask,
    };
  }
}
