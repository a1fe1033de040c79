import { messageOf } from './error.ts';

/** Why a request was not answered: `fetch failed` says nothing; its cause has a code. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(error);
}
