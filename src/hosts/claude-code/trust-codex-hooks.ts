import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { messageOf } from '../../core/base/error.ts';
import { isJsonObject, jsonOf } from '../../core/base/json.ts';

export interface CodexHook {
  /** The key under which Codex stores whether the hook is trusted. */
  readonly key: string;
  readonly hash: string;
  readonly isTrusted: boolean;
}

const LIMIT_MS = 20_000;

/**
 * `codex app-server` computes the keys and hashes; Codex ignores hooks without trust, without a message.
 *
 * @param command  the exact command: a repository may contain a similar one
 * @param trust  also marks the hooks as trusted
 * @returns a text with the reason if Codex did not answer
 */
export async function codexHooks(
  project: string,
  env: NodeJS.ProcessEnv,
  command: string,
  trust = false,
): Promise<readonly CodexHook[] | string> {
  const server = spawn('codex', ['app-server'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const pendingReplies = new Map<number, PromiseWithResolvers<unknown>>();
  const rejectAll = (reason: string): void => pendingReplies.forEach(({ reject }) => reject(new Error(reason)));
  server.on('error', (error) => rejectAll(`codex cannot be started: ${messageOf(error)}`));
  server.on('exit', (code) => rejectAll(`codex app-server ended with exit code ${String(code)}`));
  server.stdin.on('error', () => undefined);
  const timer = setTimeout(() => server.kill('SIGKILL'), LIMIT_MS);
  createInterface({ input: server.stdout }).on('line', (line) => {
    const message = jsonOf(line);
    const { error, id, result } = isJsonObject(message) ? message : {};
    const request = typeof id === 'number' ? pendingReplies.get(id) : undefined;
    if (error === undefined) request?.resolve(result);
    else request?.reject(new Error(JSON.stringify(error)));
  });
  const sendRequest = async (method: string, params: object): Promise<unknown> => {
    const id = pendingReplies.size + 1;
    const answer = Promise.withResolvers<unknown>();
    pendingReplies.set(id, answer);
    server.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    return answer.promise;
  };
  const listHooks = async (): Promise<readonly CodexHook[]> =>
    hooksIn(await sendRequest('hooks/list', { cwds: [project] }), command);
  try {
    await sendRequest('initialize', {
      clientInfo: { name: 'coxswain', title: 'coxswain', version: '1' },
      capabilities: { experimentalApi: true },
    });
    server.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`);
    const hooks = await listHooks();
    const untrusted = hooks.filter(({ isTrusted }) => !isTrusted);
    if (!trust || untrusted.length === 0) return hooks;
    const value = Object.fromEntries(untrusted.map(({ hash, key }) => [key, { trusted_hash: hash }]));
    const edits = [{ keyPath: 'hooks.state', value, mergeStrategy: 'upsert' }];
    await sendRequest('config/batchWrite', { edits, reloadUserConfig: true });
    return await listHooks();
  } catch (error) {
    return messageOf(error);
  } finally {
    clearTimeout(timer);
    server.removeAllListeners('exit');
    server.kill();
  }
}

function hooksIn(answer: unknown, ourMark: string): readonly CodexHook[] {
  const data: unknown = isJsonObject(answer) ? answer['data'] : undefined;
  const hooks = listOf(data).flatMap((entry) => listOf(entry['hooks']));
  return hooks.flatMap((hook) => {
    const { command, currentHash: hash, key, trustStatus } = hook;
    if (command !== ourMark || typeof key !== 'string' || typeof hash !== 'string') return [];
    return [{ key, hash, isTrusted: trustStatus === 'trusted' || trustStatus === 'managed' }];
  });
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
