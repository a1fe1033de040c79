import {
  type JsonMembers,
  type JsonObject,
  textOrUndefined,
  numberOrUndefined,
  present,
  isJsonObject,
} from '../../core/base/json.ts';
import type { EndReason } from '../../core/records/words.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { COMMAND_ECHO } from '../../core/facts/last-act.ts';
import { textOfContent } from '../../core/records/agent-message.ts';
import { sourceBlock } from '../parts/source-content.ts';
import { blocksOf, isCall } from './claude-code-entry.ts';

const ERROR_CHARS = 300;

/** The ending if no entry follows, undefined while the agent works, `same` if nothing changes. No entry states an end. */
export function endingAfter(entry: JsonMembers): RunEnding | undefined | 'same' {
  if (entry.type === 'attachment') {
    const { attachment } = entry;
    return isJsonObject(attachment) && attachment['type'] === 'max_turns_reached'
      ? { outcome: 'limit', reason: 'turn_limit' }
      : 'same';
  }
  if (entry.type === 'user') {
    const text = firstTextOf(entry) ?? '';
    // A command that gives the agent work is followed by an entry with the text for the model.
    if (COMMAND_ECHO.test(text)) return 'same';
    return text.startsWith('[Request interrupted') ? { outcome: 'aborted', reason: 'interrupted' } : undefined;
  }
  if (entry.type !== 'assistant') return 'same';
  if (entry.isApiErrorMessage === true) {
    const text = textOfContent(blocksOf(entry).map((block) => sourceBlock(block))).trim();
    return failedEnding({ error: entry.error, status: entry.apiErrorStatus, text });
  }
  const stopReason = isJsonObject(entry.message) ? textOrUndefined(entry.message['stop_reason']) : undefined;
  // Versions of 2025 omit the stop reason.
  const isAnswer =
    stopReason === undefined
      ? firstTextOf(entry) !== undefined
      : stopReason === 'end_turn' || stopReason === 'stop_sequence';
  return isAnswer && !blocksOf(entry).some(isCall) ? { outcome: 'ended', reason: 'answered' } : undefined;
}

/** Claude Code writes such an entry after the Stop hooks, which may take seconds, with the duration of the turn. */
export function isTurnEnd({ data, subtype, type }: JsonMembers): boolean {
  // Such an entry stands for each Stop hook, in versions that write the progress of hooks.
  if (type === 'progress') return isJsonObject(data) && data['hookEvent'] === 'Stop';
  return type === 'system' && (subtype === 'stop_hook_summary' || subtype === 'turn_duration');
}

/** The data of a failed request that Claude Code makes again: in a session file, and in stream-json. Undefined for other entries. */
export function retryIn({ attempt, error, retryAttempt, subtype, type }: JsonMembers): JsonObject | undefined {
  if (type !== 'system' || (subtype !== 'api_error' && subtype !== 'api_retry')) return undefined;
  return present({ attempt: numberOrUndefined(retryAttempt ?? attempt), error: requestError(error) });
}

/** Claude Code writes the error of its library: with a text, or only the status or the code of the connection. */
function requestError(error: unknown): string | undefined {
  if (!isJsonObject(error)) return textOrUndefined(error);
  const { cause, error: inner, formatted, message, status } = error;
  const code = isJsonObject(cause) ? textOrUndefined(cause['code']) : undefined;
  const text = textOrUndefined(formatted) ?? textOrUndefined(message) ?? requestError(inner) ?? code;
  return text?.slice(0, ERROR_CHARS).toWellFormed() ?? (typeof status === 'number' ? `status ${status}` : undefined);
}

interface FailedRequest {
  readonly error: unknown;
  readonly status?: unknown;
  readonly text: string;
}

export function failedEnding(failure: FailedRequest): RunEnding {
  const reason = failureReason(failure);
  const outcome = reason === 'output_limit' ? 'limit' : 'error';
  return { outcome, reason, labels: { error: failure.text.slice(0, ERROR_CHARS) } };
}

/** Without a status, the request may not have reached the model: the reason is absent unless the text states one. */
export function statedFailure(text: string, error?: unknown, knownStatus?: unknown): RunEnding {
  const status = knownStatus ?? Number(/\b(?:status:? |HTTP |API Error: |\()?([45]\d\d)\b/.exec(text)?.[1]);
  const { reason, ...ending } = failedEnding({ error, status, text });
  return reason === 'invalid_request' && status !== 400 ? ending : { ...ending, ...present({ reason }) };
}

/** What OpenAI says when the credit is used up, also with status 429. A text that says when to try again is a rate limit. */
const NO_CREDIT = /insufficient_quota|check your plan and billing/i;
/** The limits of subscriptions, such as that of a session of five hours. */
const USAGE_LIMIT =
  /\b(?:usage|session|weekly|\d+-hour|opus|sonnet) limit\b|\bhit your limit\b|\bexhausted your (?:daily )?(?:quota|capacity)\b/i;
const ENDS_LATER = /\b(?:retry|try again|resets?)\b/i;

export function failureReason({ error, status, text }: FailedRequest): EndReason {
  if (error === 'insufficient_quota' || (NO_CREDIT.test(text) && !ENDS_LATER.test(text))) return 'credit';
  if (status === 429 || error === 'rate_limit' || error === 'usage_limit_exceeded' || USAGE_LIMIT.test(text))
    return 'rate_limit';
  if (status === 401 || status === 403 || error === 'authentication_failed') return 'login';
  if (status === 402 || error === 'billing_error' || /credit balance/i.test(text)) return 'credit';
  if (status === 529 || /overloaded/i.test(text)) return 'overloaded';
  if (error === 'max_output_tokens') return 'output_limit';
  if (/prompt is too long|autocompact|context (?:window|length|limit)/i.test(text)) return 'context';
  if (/usage policy/i.test(text)) return 'refused';
  if (status === undefined && /\btimed out\b/i.test(text)) return 'timeout';
  return error === 'server_error' || Number(status) >= 500 ? 'server_error' : 'invalid_request';
}

/** Returns the first non-blank text. Skips tool results, which may be long. */
function firstTextOf(entry: JsonMembers): string | undefined {
  for (const block of blocksOf(entry)) {
    if (!isJsonObject(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') continue;
    const text = block['text'].trimStart();
    if (text !== '') return text;
  }
  return undefined;
}
