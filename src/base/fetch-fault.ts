import { messageOf } from './error.ts';

/** The reason of a failed request: of `fetch failed`, the code of its cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(error);
}
