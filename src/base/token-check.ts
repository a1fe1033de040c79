import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether an `authorization` header has the token. Compares in a time that does not tell how much was right. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(`Bearer ${token}`);
  return (given) => timingSafeEqual(digest(given), wanted);
}
