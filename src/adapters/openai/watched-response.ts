/** Who is told of a body as it passes. What it throws breaks the body. */
export interface BodyWatcher {
  take(text: string): void;
  /** The body is over; called before its reader knows. */
  end(): void;
  /** The body broke; without an error, its reader gave up. */
  broken(error: unknown): void;
}

/**
 * The same response with a body that is watched while it passes: nothing is read ahead of the reader, nothing waits, and
 * what breaks it breaks it as before. A body that is no web stream is not watched.
 */
export function watchedResponse(response: Response, watcher: BodyWatcher): Response {
  const { body } = response;
  if (body === null || typeof body.getReader !== 'function') return response;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let over = false;
  const once = (told: () => void): void => {
    if (over) return;
    over = true;
    told();
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
  // A response that was made has no address; the SDK prints it in its log.
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}
