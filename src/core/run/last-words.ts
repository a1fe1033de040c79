import type { AgentEvent } from '../records/agent-event.ts';
import type { RunEnding } from '../records/trajectory-record.ts';

/** Returns the outcome or the whole ending of a run. It is used if the host states none. */
export type EndListener = () => string | RunEnding | undefined;

export class LastWords {
  readonly #listeners: EndListener[] = [];
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  add(listener: EndListener): void {
    this.#listeners.push(listener);
  }

  complete(event: AgentEvent & { readonly type: 'agent_end' }): AgentEvent {
    const [ending] = this.#listeners.flatMap((listener) => {
      try {
        return listener() ?? [];
      } catch (error) {
        this.#onFault(error);
        return [];
      }
    });
    if (event.outcome !== undefined || ending === undefined) return event;
    return { ...(typeof ending === 'string' ? { outcome: ending } : ending), ...event };
  }
}
