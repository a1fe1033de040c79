import { reasonOf } from '../../core/base/fetch-fault.ts';
import { escaped } from './escaped.ts';
import type { NotifyFailure, NotifyTarget } from './notification.ts';

const LIMIT_MS = 10_000;

/**
 * Sends each notification to a URL as a POST request. Redirects are not followed. Timeouts and the status codes 429 and 5xx are
 * transient failures.
 *
 * @param form  `json`: the body is the notification. `slack`: the body is `{ "text": … }`, for Slack and compatible services.
 */
export function webhookTarget(url: string, form: 'json' | 'slack' = 'json'): NotifyTarget {
  return {
    // The rest of the URL is secret.
    name: `the webhook at ${new URL(url).host}`,
    send: async (notification) => {
      const body = form === 'slack' ? { text: escaped(`coxswain: ${notification.message}`) } : notification;
      return postJson(url, body);
    },
  };
}

/** Sends one POST request. @returns the failure; undefined on success */
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
