/** Observer of a body as it passes. An exception breaks the body. */
export interface BodyWatcher {
  take(text: string): void;
  /** The body has ended; called before its reader knows. */
  end(): void;
  /** The body broke; without an error, its reader gave up. */
  broken(error: unknown): void;
}

/**
 * The same response with an observed body: nothing is read ahead of the reader, nothing waits, and
 * errors pass unchanged. A body that is not a web stream is not observed.
 */
export function watchedResponse(response: Response, watcher: BodyWatcher): Response {
  const { body } = response;
  if (body === null || typeof body.getReader !== 'function') return response;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let over = false;
  const once = (notify: () => void): void => {
    if (over) return;
    over = true;
    notify();
  };
  const passed = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            once(() => watcher.end());
            controller.close();
          } else {
            watcher.take(decoder.decode(value, { stream: true }));
            controller.enqueue(value);
          }
        } catch (error) {
          once(() => watcher.broken(error));
          controller.error(error);
        }
      },
      async cancel(reason) {
        once(() => watcher.broken(undefined));
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url } = response;
  const copy = new Response(passed, { status, statusText, headers });
  // A constructed response has no address; the SDK logs it.
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}
