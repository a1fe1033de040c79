import type { PluginUsage } from '../dialects/read-payload.ts';

/** Number of answers per session. An answer is sent with each event until then, and recorded once by its time. */
const MAX_ANSWERS = 16;

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

  of(sessionId: string): { readonly usages?: readonly PluginUsage[] } {
    const answers = this.#bySession.get(sessionId);
    return answers === undefined ? {} : { usages: [...answers.values()] };
  }
}

/** Advice that cannot be delivered with the current event. It waits for the next request. */
export class WaitingText {
  readonly #bySession = new Map<string, string[]>();

  add(sessionId: string, text: string | undefined): void {
    if (text === undefined) return;
    const texts = this.#bySession.get(sessionId) ?? [];
    texts.push(text);
    this.#bySession.set(sessionId, texts);
  }

  /** Returns the waiting advice as one text and removes it. Undefined without advice. */
  take(sessionId: string): string | undefined {
    const texts = this.#bySession.get(sessionId);
    this.#bySession.delete(sessionId);
    return texts?.join('\n\n');
  }
}
