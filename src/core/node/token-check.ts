import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Returns a function that checks whether an `authorization` header contains the token. The time of the comparison does not
 * reveal how many characters were correct.
 */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expectedDigest = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header), expectedDigest);
}
