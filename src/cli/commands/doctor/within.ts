/** What `work` gives, or `late` when that takes longer than `limitMs`; what it gives then, or throws, is nobody's. */
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
