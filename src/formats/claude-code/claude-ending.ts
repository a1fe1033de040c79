import { isJsonObject } from '../../base/json.ts';
import type { EndReason } from '../../records/end-reason.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import { textOfContent } from '../../records/stored-message.ts';
import { sourceBlock, textOrUndefined } from '../parts/source-content.ts';
import { blocksOf, isCall } from './claude-code-entry.ts';

type JsonMembers = Readonly<Record<string, unknown>>;

/** How a session ended, as `run_ended` says it. */
export type Ending = Pick<RunEnded, 'outcome' | 'reason' | 'labels'>;

const ERROR_CHARS = 300;

/**
 * How a session stands after an entry of its transcript: its end if nothing came any more, undefined while the agent is at work,
 * and `same` for an entry that says nothing of it. Claude Code writes no end of its own.
 */
export function endingAfter(entry: JsonMembers): Ending | undefined | 'same' {
  if (entry.type === 'attachment') {
    const { attachment } = entry;
    return isJsonObject(attachment) && attachment['type'] === 'max_turns_reached'
      ? { outcome: 'limit', reason: 'turn_limit' }
      : 'same';
  }
  if (entry.type === 'user') {
    const isInterrupted = textOf(entry).startsWith('[Request interrupted');
    return isInterrupted ? { outcome: 'aborted', reason: 'interrupted' } : undefined;
  }
  if (entry.type !== 'assistant') return 'same';
  if (entry.isApiErrorMessage === true) {
    const text = textOf(entry);
    const reason = failureReason({ error: entry.error, status: entry.apiErrorStatus, text });
    return {
      outcome: reason === 'output_limit' ? 'limit' : 'error',
      reason,
      labels: { error: text.slice(0, ERROR_CHARS) },
    };
  }
  const stopReason = isJsonObject(entry.message) ? textOrUndefined(entry.message['stop_reason']) : undefined;
  // Versions of 2025 leave the reason out.
  const isAnswer =
    stopReason === undefined ? textOf(entry) !== '' : stopReason === 'end_turn' || stopReason === 'stop_sequence';
  return isAnswer && !blocksOf(entry).some(isCall) ? { outcome: 'ended', reason: 'answered' } : undefined;
}

/** Why a request to the model failed. @param failure  the word, HTTP status and text of Claude Code */
export function failureReason(failure: {
  readonly error: unknown;
  readonly status?: unknown;
  readonly text: string;
}): EndReason {
  const { error, status, text } = failure;
  if (status === 429 || error === 'rate_limit') return 'rate_limit';
  if (status === 401 || status === 403 || error === 'authentication_failed') return 'login';
  if (error === 'billing_error' || /credit balance/i.test(text)) return 'credit';
  if (status === 529 || /overloaded/i.test(text)) return 'overloaded';
  if (error === 'max_output_tokens') return 'output_limit';
  if (/prompt is too long|autocompact|context (?:window|length|limit)/i.test(text)) return 'context';
  if (/usage policy/i.test(text)) return 'refused';
  return error === 'server_error' || Number(status) >= 500 ? 'server_error' : 'invalid_request';
}

function textOf(entry: JsonMembers): string {
  return textOfContent(blocksOf(entry).map((block) => sourceBlock(block))).trim();
}
