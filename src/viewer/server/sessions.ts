import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long an address that was handed to a browser is good for, in milliseconds. */
export const ONCE_MS = 60_000;

/**
 * Who may use the viewer: whoever has the token of this start, which stands in the address that is printed. It is changed for a
 * session, which a cookie holds. Both are 256 random bits, forgotten with the process, and compared in constant time.
 */
export class Sessions {
  /** For the address that is printed; good as long as the process runs. */
  readonly token: string = secret();
  readonly #session = secret();
  readonly #nowMs: () => number;
  readonly #once = new Map<string, number>();

  /** @param nowMs  Unix milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A token that is good once, for a minute: for the file that a browser is started with. */
  issueOnce(): string {
    const token = secret();
    this.#once.set(digest(token).toString('hex'), this.#nowMs() + ONCE_MS);
    return token;
  }

  /** The session for a token; undefined for a wrong one. */
  open(token: string): string | undefined {
    if (isEqual(token, this.token)) return this.#session;
    // What is looked up is a digest, of which time tells nothing.
    const key = digest(token).toString('hex');
    const untilMs = this.#once.get(key);
    this.#once.delete(key);
    return untilMs !== undefined && this.#nowMs() <= untilMs ? this.#session : undefined;
  }

  isOpen(session: string | undefined): boolean {
    return session !== undefined && isEqual(session, this.#session);
  }
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

/** In a time that depends on the length of what was given alone. */
function isEqual(given: string, known: string): boolean {
  return timingSafeEqual(digest(given), digest(known));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
