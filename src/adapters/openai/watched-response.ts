/** Observes a body while it passes. An exception in a method breaks the body. */
export interface BodyWatcher {
  take(text: string): void;
  /** Called when the body has ended, before its reader is notified. */
  end(): void;
  /** Called when the body broke. The error is undefined if its reader cancelled it. */
  broken(error: unknown): void;
}

/**
 * Returns the same response with an observed body. The body is not read ahead of its reader and is not delayed. Errors pass
 * unchanged. A body that is not a web stream is not observed.
 */
export function watchedResponse(response: Response, watcher: BodyWatcher): Response {
  const { body } = response;
  if (body === null || typeof body.getReader !== 'function') return response;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let hasNotified = false;
  const notifyOnce = (notify: () => void): void => {
    if (hasNotified) return;
    hasNotified = true;
    notify();
  };
  const passedStream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            notifyOnce(() => watcher.end());
            controller.close();
          } else {
            watcher.take(decoder.decode(value, { stream: true }));
            controller.enqueue(value);
          }
        } catch (error) {
          notifyOnce(() => watcher.broken(error));
          controller.error(error);
        }
      },
      async cancel(reason) {
        notifyOnce(() => watcher.broken(undefined));
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url } = response;
  const copy = new Response(passedStream, { status, statusText, headers });
  // A constructed response has no URL, but the SDK logs the URL.
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}
