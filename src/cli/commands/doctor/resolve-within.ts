/** Resolves to the result of `work`, or to `fallback` after `limitMs`. A later result or error is ignored. */
export async function resolveWithin<Value, Late>(
  work: Promise<Value>,
  limitMs: number,
  fallback: Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(fallback), limitMs);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
