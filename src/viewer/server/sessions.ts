import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lifetime of a one-time token. */
export const ONCE_MS = 60_000;

/**
 * Access to the viewer: the token in the printed address is exchanged for a session cookie. Both are 256 random bits that end with the
 * process and are compared in constant time.
 */
export class Sessions {
  /** For the printed address; valid while the process runs. */
  readonly token: string = secret();
  readonly #session = secret();
  readonly #nowMs: () => number;
  readonly #once = new Map<string, number>();

  /** @param nowMs  Unix milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A token for one use within a minute: for the file that opens the browser. */
  issueOnce(): string {
    const token = secret();
    this.#once.set(digest(token).toString('hex'), this.#nowMs() + ONCE_MS);
    return token;
  }

  /** The session for a token; undefined for a wrong one. */
  open(token: string): string | undefined {
    if (isEqual(token, this.token)) return this.#session;
    // The lookup is by digest, so its time reveals nothing.
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

/** Takes a time that depends only on the length of `candidate`. */
function isEqual(candidate: string, known: string): boolean {
  return timingSafeEqual(digest(candidate), digest(known));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
