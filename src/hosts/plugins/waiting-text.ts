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
