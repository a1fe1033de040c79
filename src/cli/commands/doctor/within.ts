/** Resolves to the result of `work`, or to `late` after `limitMs`. A later result or error is ignored. */
export async function within<Value, Late>(work: Promise<Value>, limitMs: number, late: Late): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
