/** Every write of the page carries it; another site cannot send it without being asked first. */
export const WRITE_HEADER: Readonly<Record<string, string>> = { 'x-coxswain': '1' };

const WANTED = 'coxswain-wanted';
/** A link that was opened without a session is gone to when one begins so soon after it. */
const WANTED_MS = 10 * 60_000;

/** Remembers the address that was opened without a session. */
export function keepAddress(): void {
  try {
    localStorage.setItem(WANTED, JSON.stringify([Date.now(), location.pathname + location.search]));
  } catch {
    // A browser that stores nothing opens the first page.
  }
}

/** The address that was remembered a short while ago, once. */
function takeAddress(): string | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(WANTED) ?? 'null');
    localStorage.removeItem(WANTED);
    if (!Array.isArray(kept)) return undefined;
    const [atMs, path] = kept as readonly unknown[];
    const isFresh = typeof atMs === 'number' && Date.now() - atMs < WANTED_MS;
    return isFresh && typeof path === 'string' && path.startsWith('/?') ? path : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Takes the token out of the address, once, and changes it for a cookie that scripts cannot read.
 *
 * @returns what went wrong, in one sentence, or undefined when the page may go on
 */
export async function openSession(): Promise<string | undefined> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const answer = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...WRITE_HEADER },
      body: JSON.stringify({ token }),
    });
    if (!answer.ok) return 'The address is of another start of the viewer.';
    const wanted = location.search === '' ? takeAddress() : undefined;
    if (wanted !== undefined) history.replaceState(null, '', wanted);
    return undefined;
  } catch {
    return 'The viewer does not answer.';
  }
}
