import type { PluginUsage } from '../dialects/read-payload.ts';

/** Number of answers per session. An answer is sent with each event until then, and recorded once by its time. */
const MAX_ANSWERS = 16;

/** Tokens of the latest answers of each session, which go with the next event. */
export class RecentUsages {
  readonly #bySession = new Map<string, Map<string, PluginUsage>>();

  /** @param id  id of the answer, whose tokens may be reported again */
  note(sessionId: string, id: string, usage: PluginUsage): void {
    const answers = this.#bySession.get(sessionId) ?? new Map<string, PluginUsage>();
    this.#bySession.set(sessionId, answers);
    if (answers.has(id)) return;
    answers.set(id, usage);
    const [oldest] = answers.keys();
    if (answers.size > MAX_ANSWERS && oldest !== undefined) answers.delete(oldest);
  }

  /** Returns the member `usages` of an event. */
  of(sessionId: string): { readonly usages?: readonly PluginUsage[] } {
    const answers = this.#bySession.get(sessionId);
    return answers === undefined ? {} : { usages: [...answers.values()] };
  }
}
