/** This header is required for writes. Another site cannot send it without a CORS preflight. */
export const WRITE_HEADER: Readonly<Record<string, string>> = { 'x-coxswain': '1' };

const WANTED = 'coxswain-wanted';
/** How long an address is kept that was opened without a session. It is restored if a session starts within this time. */
const WANTED_MS = 10 * 60_000;

export function keepAddress(): void {
  try {
    localStorage.setItem(WANTED, JSON.stringify([Date.now(), location.pathname + location.search]));
  } catch {
    // Without storage, the start page opens.
  }
}

function takeAddress(): string | undefined {
  try {
    const storedValue: unknown = JSON.parse(localStorage.getItem(WANTED) ?? 'null');
    localStorage.removeItem(WANTED);
    if (!Array.isArray(storedValue)) return undefined;
    const [atMs, path] = storedValue as readonly unknown[];
    const isFresh = typeof atMs === 'number' && Date.now() - atMs < WANTED_MS;
    return isFresh && typeof path === 'string' && path.startsWith('/?') ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Exchanges the token in the address for a cookie that scripts cannot read. Returns an error in one sentence. */
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
    if (!answer.ok) return 'The address is from another start of the viewer.';
    const wantedAddress = location.search === '' ? takeAddress() : undefined;
    if (wantedAddress !== undefined) history.replaceState(null, '', wantedAddress);
    return undefined;
  } catch {
    return 'The viewer does not respond.';
  }
}
