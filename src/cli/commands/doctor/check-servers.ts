import { messageOf } from '../../../base/error.ts';
import { readServeSettings } from '../../../hosts/claude-code/serve-settings.ts';
import { findServer } from '../../../hosts/claude-code/server-process.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import type { FoundSettings, HookRequest } from './find-settings.ts';
import { canaryEvent, lookForCanary, notTried, type CanarySetup } from './send-canary.ts';

const LIMIT_MS = 3_000;
/** Longer than a server waits for its store. */
const CANARY_LIMIT_MS = 10_000;

/**
 * Asks each server of our http hooks whether it is there, and knows the token of the settings: `/health` at its address. Through
 * one that does an event is sent, whose run is deleted. An address in the project's settings counts only if it is that of the
 * server that `init --http` set up: a repository may have brought it along.
 */
export async function checkServers(
  settings: readonly FoundSettings[],
  setup: Pick<CanarySetup, 'projectFolder' | 'openStore'>,
): Promise<readonly DoctorLine[]> {
  const lines = settings.flatMap(({ layer, requests }) =>
    requests.map(async (request): Promise<readonly DoctorLine[]> => {
      try {
        const mayAsk = layer === 'user' || isServerOf(setup.projectFolder, request);
        return mayAsk ? await checkServer(request, setup) : [notTried(request.url)];
      } catch (error) {
        return [failed('server', messageOf(error), 'Run coxswain init claude-code --http again.')];
      }
    }),
  );
  return (await Promise.all(lines)).flat();
}

/** @throws CoxswainError as `readServeSettings` */
function isServerOf(projectFolder: string, { url }: HookRequest): boolean {
  const port = readServeSettings(projectFolder)?.port;
  return port !== undefined && new URL(url).origin === `http://127.0.0.1:${port}`;
}

async function checkServer(
  { url, headers }: HookRequest,
  setup: Pick<CanarySetup, 'projectFolder' | 'openStore'>,
): Promise<readonly DoctorLine[]> {
  const check = 'server';
  const fix = 'Start it with coxswain serve, or take its hooks out of the settings.';
  const { origin } = new URL(url);
  try {
    const { ok, status, body } = await fetch(`${origin}/health`, {
      headers: plain(headers),
      signal: AbortSignal.timeout(LIMIT_MS),
      redirect: 'error',
    });
    await body?.cancel();
    if (status === 401) {
      const renew = 'Run coxswain init claude-code --http again, which puts the right token into the settings.';
      return [failed(check, `${origin} answers, and does not know the token of the settings`, renew)];
    }
    if (!ok) return [failed(check, `${origin}/health answers with status ${status}`, fix)];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const found = `${origin} does not answer: ${messageOf(error)}${cause}`;
    return [startsByItself(setup.projectFolder, origin) ?? failed(check, found, fix)];
  }
  return [passed(check, `${origin} answers`), await canaryOver(url, headers, setup)];
}

/** A server that has stopped is no fault where the next prompt starts it. */
function startsByItself(projectFolder: string, origin: string): DoctorLine | undefined {
  const settings = readServeSettings(projectFolder);
  if (settings === undefined || !origin.endsWith(`:${settings.port}`)) return undefined;
  const pid = findServer(projectFolder)?.holder.pid;
  if (pid !== undefined) {
    return failed('server', `process ${pid} does not answer at ${origin}`, 'Run coxswain serve stop; then start it.');
  }
  const found = `no server runs at ${origin}; the next session or prompt starts it`;
  return unknown('server', found, 'Run coxswain serve start, then coxswain doctor again.');
}

async function canaryOver(
  url: string,
  headers: HookRequest['headers'],
  setup: Pick<CanarySetup, 'projectFolder' | 'openStore'>,
): Promise<DoctorLine> {
  const check = 'hook alive';
  const fix = 'The line about problems below says why.';
  const event = canaryEvent(setup.projectFolder);
  const startMs = performance.now();
  try {
    const { status, body } = await fetch(url, {
      method: 'POST',
      headers: { ...plain(headers), 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(CANARY_LIMIT_MS),
      redirect: 'error',
    });
    await body?.cancel();
    const took = `${Math.round(performance.now() - startMs)} ms`;
    const { found, problem } = await lookForCanary(event.session_id, setup);
    if (problem !== undefined) return failed(check, `${url}: ${problem}`, fix);
    if (found) return passed(check, `an event sent to the server was recorded in ${took}: ${url}`);
    return failed(check, `${url} answered with status ${status} in ${took} and recorded nothing`, fix);
  } catch (error) {
    return failed(check, `${url}: ${messageOf(error)}`, fix);
  }
}

/** Without what Claude Code takes from its environment. */
function plain(headers: HookRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => !value.includes('$')));
}
