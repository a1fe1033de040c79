import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lifetime of a one-time token in milliseconds. */
export const ONCE_MS = 60_000;

/**
 * Controls access to the viewer. The browser exchanges the token in the printed address for a session cookie. Token and cookie are 256
 * random bits that are valid until the process ends. They are compared in constant time.
 */
export class Sessions {
  /** The token of the printed address. It is valid while the process runs. */
  readonly token: string = createSecret();
  readonly #session = createSecret();
  readonly #nowMs: () => number;
  readonly #oneTimeTokens = new Map<string, number>();

  /** @param nowMs  returns the current time in Unix milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Creates a token that is valid once, within a minute. It is used in the file that opens the browser. */
  issueOnce(): string {
    const token = createSecret();
    this.#oneTimeTokens.set(digest(token).toString('hex'), this.#nowMs() + ONCE_MS);
    return token;
  }

  /** Returns the session for a token, or undefined for a wrong token. */
  openSession(token: string): string | undefined {
    if (isEqual(token, this.token)) return this.#session;
    // The lookup uses a digest, so its duration reveals nothing about the token.
    const key = digest(token).toString('hex');
    const untilMs = this.#oneTimeTokens.get(key);
    this.#oneTimeTokens.delete(key);
    return untilMs !== undefined && this.#nowMs() <= untilMs ? this.#session : undefined;
  }

  isOpen(session: string | undefined): boolean {
    return session !== undefined && isEqual(session, this.#session);
  }
}

function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares two strings in a time that depends only on the length of `candidate`. */
function isEqual(candidate: string, expected: string): boolean {
  return timingSafeEqual(digest(candidate), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
