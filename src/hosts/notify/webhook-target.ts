import { reasonOf } from '../../core/base/fetch-fault.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import { escaped } from './escaped.ts';
import type { NotifyFailure, NotifyTarget } from './notification.ts';

const LIMIT_MS = 10_000;

/**
 * Sends each notification to a URL as a POST request. Redirects are not followed. Timeouts and the status codes 429 and 5xx are
 * transient failures.
 *
 * @param form  `json`: the body is the notification. `slack`: `{ "text": … }`, for Slack and compatible services. `discord`:
 *   `{ "content": … }` without mentions. `ntfy`: the sentence as plain text
 */
export function webhookTarget(url: string, form: NotifySection['form'] = 'json'): NotifyTarget {
  return {
    // The rest of the URL is secret.
    name: `the webhook at ${new URL(url).host}`,
    send: async (notification) => {
      const text = `coxswain: ${notification.message}`;
      switch (form) {
        case 'json':
          return postJson(url, notification);
        case 'slack':
          return postJson(url, { text: escaped(text) });
        case 'discord':
          return postJson(url, {
            content: text.replaceAll(/[\\*_`~|>#[\]()<@]/g, String.raw`\$&`),
            allowed_mentions: { parse: [] },
          });
        default:
          return post(url, 'text/plain; charset=utf-8', text);
      }
    },
  };
}

/** Sends one POST request with JSON. @returns the failure; undefined on success */
export function postJson(url: string, body: unknown): Promise<NotifyFailure | undefined> {
  return post(url, 'application/json', JSON.stringify(body));
}

async function post(url: string, type: string, body: string): Promise<NotifyFailure | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
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
