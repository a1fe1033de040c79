/** Every write of the page carries it; another site cannot send it without being asked first. */
export const WRITE_HEADER: Readonly<Record<string, string>> = { 'x-coxswain': '1' };

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
    return answer.ok ? undefined : 'The address is of another start of the viewer.';
  } catch {
    return 'The viewer does not answer.';
  }
}
