import { messageOf } from './error.ts';

/** Returns the reason why a request failed. For `fetch failed`, the reason is the code of the error's cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(error);
}
