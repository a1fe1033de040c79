import { reasonOf } from '../base/fetch-fault.ts';
import { escaped } from './escaped.ts';
import type { NotifyFailure, NotifyTarget } from './notification.ts';

const LIMIT_MS = 10_000;

/**
 * An address that each notification is posted to. A redirect is not followed. No answer, 429 and 5xx may pass.
 *
 * @param form  `json`: the notification as it is; `slack`: `{ "text": … }`, which Slack and what imitates it take
 */
export function webhookTarget(url: string, form: 'json' | 'slack' = 'json'): NotifyTarget {
  return {
    // The rest of the address is the key to the channel.
    name: `the webhook at ${new URL(url).host}`,
    send: async (notification) => {
      const body = form === 'slack' ? { text: escaped(`coxswain: ${notification.message}`) } : notification;
      return postJson(url, body);
    },
  };
}

/** Posts a body once. @returns why it did not arrive; undefined when it did */
export async function postJson(url: string, body: unknown): Promise<NotifyFailure | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const { status } = response;
    return { why: `it answered ${status}`, mayRetry: status === 429 || status >= 500 };
  } catch (error) {
    return { why: reasonOf(error), mayRetry: true };
  }
}
