import { messageOf } from '../../../core/base/error.ts';
import { readServeSettings } from '../../../hosts/claude-code/serve-settings.ts';
import { findServer } from '../../../hosts/claude-code/server-process.ts';
import { failed, HOST_LIMIT_MS, passed, unknown, type DoctorLine } from './doctor-line.ts';
import type { FoundSettings, HookRequest } from './find-settings.ts';
import { canaryEvent, lookForCanary, notTried, type CanarySetup } from './send-canary.ts';

/**
 * Checks the server of each coxswain HTTP hook. Requests `/health` to check that the server runs and accepts the token in the
 * settings. Then sends an event and deletes its run. An address in project settings may come from the repository, so it is only
 * contacted if it is the address of the server set up by `init --http`.
 */
export async function checkServers(
  settings: readonly FoundSettings[],
  setup: Pick<CanarySetup, 'projectFolder' | 'openStore'>,
): Promise<readonly DoctorLine[]> {
  const lines = settings.flatMap(({ layer, requests }) =>
    requests.map(async (request): Promise<readonly DoctorLine[]> => {
      try {
        const isAllowed = layer === 'user' || isServerOf(setup.projectFolder, request);
        return isAllowed ? await checkServer(request, setup) : [notTried(request.url)];
      } catch (error) {
        return [failed('server', messageOf(error), 'Run coxswain init claude-code --http again.')];
      }
    }),
  );
  return (await Promise.all(lines)).flat();
}

/** @throws CoxswainError the errors of `readServeSettings` */
function isServerOf(projectFolder: string, { url }: HookRequest): boolean {
  const port = readServeSettings(projectFolder)?.port;
  return port !== undefined && new URL(url).origin === `http://127.0.0.1:${port}`;
}

async function checkServer(
  { url, headers }: HookRequest,
  setup: Pick<CanarySetup, 'projectFolder' | 'openStore'>,
): Promise<readonly DoctorLine[]> {
  const check = 'server';
  const fix = 'Start it with coxswain serve, or remove its hooks from the settings.';
  const { origin } = new URL(url);
  try {
    const { ok, status, body } = await fetch(`${origin}/health`, {
      headers: literalHeaders(headers),
      signal: AbortSignal.timeout(HOST_LIMIT_MS),
      redirect: 'error',
    });
    await body?.cancel();
    if (status === 401) {
      const renew = 'Run coxswain init claude-code --http again, which writes the current token into the settings.';
      return [failed(check, `${origin} rejects the token of the settings`, renew)];
    }
    if (!ok) return [failed(check, `${origin}/health responds with status ${status}`, fix)];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const found = `${origin} does not respond: ${messageOf(error)}${cause}`;
    return [stoppedServer(setup.projectFolder, origin) ?? failed(check, found, fix)];
  }
  return [passed(check, `${origin} responds`), await sendCanaryOver(url, headers, setup)];
}

/**
 * Returns a line if the server is stopped and belongs to this project. This is not a failure, because the next prompt starts the
 * server.
 */
function stoppedServer(projectFolder: string, origin: string): DoctorLine | undefined {
  const settings = readServeSettings(projectFolder);
  if (settings === undefined || !origin.endsWith(`:${settings.port}`)) return undefined;
  const pid = findServer(projectFolder)?.holder.pid;
  if (pid !== undefined) {
    return failed('server', `process ${pid} does not respond at ${origin}`, 'Run coxswain serve stop, then start it.');
  }
  const found = `no server runs at ${origin}; the next session or prompt starts it`;
  return unknown('server', found, 'Run coxswain serve start, then coxswain doctor again.');
}

async function sendCanaryOver(
  url: string,
  headers: HookRequest['headers'],
  setup: Pick<CanarySetup, 'projectFolder' | 'openStore'>,
): Promise<DoctorLine> {
  const check = 'hook alive';
  const fix = 'See “problems noticed” below.';
  const event = canaryEvent(setup.projectFolder);
  const startMs = performance.now();
  try {
    const { status, body } = await fetch(url, {
      method: 'POST',
      headers: { ...literalHeaders(headers), 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(HOST_LIMIT_MS),
      redirect: 'error',
    });
    await body?.cancel();
    const durationText = `${Math.round(performance.now() - startMs)} ms`;
    const { found, problem } = await lookForCanary(event.session_id, setup);
    if (problem !== undefined) return failed(check, `${url}: ${problem}`, fix);
    if (found) return passed(check, `an event sent to the server was recorded in ${durationText}: ${url}`);
    return failed(check, `${url} responded with status ${status} in ${durationText} but recorded nothing`, fix);
  } catch (error) {
    return failed(check, `${url}: ${messageOf(error)}`, fix);
  }
}

/** Removes the headers whose values Claude Code takes from its environment. */
function literalHeaders(headers: HookRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => !value.includes('$')));
}
