import type { AgentMessage } from '../../records/agent-message.ts';
import type { PromptMessage } from './sdk-shapes.ts';
import { systemTextOf, unansweredMessages } from './to-events.ts';

/** What a request says that no request before it has said. */
export interface News {
  readonly messages: readonly AgentMessage[];
  /** The user has said something: the agent has a task. */
  readonly isTask: boolean;
}

/** Tells what is new in requests of which each repeats the whole conversation. Keeps the last instructions and messages. */
export class PromptNews {
  #system = '';
  #unanswered = '';

  /**
   * @param isFresh  the last request was answered for good, so that whatever the user says now is new, be it the same words
   */
  take(prompt: readonly PromptMessage[], isFresh: boolean): News {
    const system = systemTextOf(prompt);
    const users = unansweredMessages(prompt);
    const unanswered = users.map(({ content }) => JSON.stringify(content)).join('\n');
    // A retry, or a host that says the same at the end of every request, brings nothing new.
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
