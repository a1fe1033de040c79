import { messageOf } from '../../base/error.ts';
import { failed, passed, type DoctorLine } from './doctor-line.ts';

const LIMIT_MS = 3_000;

/** Asks each server of our http hooks whether it is there: `/health` at its address. */
export async function checkServers(urls: readonly string[]): Promise<readonly DoctorLine[]> {
  const origins = [...new Set(urls.flatMap((url) => URL.parse(url)?.origin ?? []))];
  return Promise.all(origins.map(checkServer));
}

async function checkServer(origin: string): Promise<DoctorLine> {
  const fix = 'Start it with coxswain serve, or take its hooks out of the settings.';
  try {
    const { ok, status, body } = await fetch(`${origin}/health`, {
      signal: AbortSignal.timeout(LIMIT_MS),
      redirect: 'error',
    });
    await body?.cancel();
    if (ok) return passed('server', `${origin} answers`);
    return failed('server', `${origin}/health answers with status ${status}`, fix);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return failed('server', `${origin} does not answer: ${messageOf(error)}${cause}`, fix);
  }
}
