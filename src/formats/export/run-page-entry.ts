import { adviceOf } from '../../core/records/derived-payload.ts';
import { assertNever } from '../../core/base/error.ts';
import { resultText } from '../../core/detect/calls/result-text.ts';
import { html, type Html } from '../html/html.ts';
import { outcomeOf, type TrajectoryPayload, type TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { toStoredRecord } from '../../core/records/decode-record.ts';
import type { StoredContent } from '../../core/records/agent-message.ts';

const END_WORDS = { ok: 'result', failed: 'error', refused: 'refusal', cancelled: 'cancellation' } as const;

/** Texts longer than the first limit are collapsed. Texts longer than the second limit are truncated. */
const FOLDED_CHARS = 800;
const MAX_CHARS = 20_000;
const MAX_NAME_CHARS = 200;

/** The delivery of advice and the calls after it, as text. */
export interface AfterAdvice {
  readonly text: string;
  /** False if the advice is not known to have reached the agent. */
  readonly isSaid: boolean;
}

/** Renders a record. @param followedBy  returns what followed an advice text */
export function entryHtml(
  record: TrajectoryRecord,
  call: number | undefined,
  followedBy: (adviceId: string) => AfterAdvice | undefined,
): Html {
  const { payload, recorded_at_unix_ms: atMs, seq } = record;
  if (payload.kind === 'pattern_flagged' || payload.kind === 'pattern_cleared') return html``;
  const { body, mark, name } = shownEvent(payload, call);
  const timeTag = atMs > 0 ? html`<time>${utcText(atMs)}</time>` : undefined;
  const after = 'advice_id' in payload && mark === 'advice' ? followedBy(payload.advice_id ?? '') : undefined;
  return html`<article id="s${seq}" class="${mark}${after?.isSaid === false ? ' unsaid' : ''}">
    <h3>${seq} ${shortName(name)} ${timeTag}</h3>
    ${body}${after === undefined ? undefined : html`<p class="dim">${after.text}</p>`}
  </article> `;
}

interface Shown {
  readonly name: string;
  readonly mark: 'plain' | 'call' | 'bad' | 'pattern' | 'advice' | 'message' | 'turn';
  readonly body?: Html | undefined;
}

function shownEvent(payload: TrajectoryPayload, call: number | undefined): Shown {
  const callText = call === undefined ? '' : ` ${call}`;
  switch (payload.kind) {
    case 'turn_started':
      return { name: 'turn', mark: 'turn' };
    case 'message_appended': {
      const { message } = payload;
      return { name: message.role, mark: 'message', body: textBlock(contentText(message.content)) };
    }
    case 'tool_started':
      return { name: `call${callText} ${payload.tool_name}`, mark: 'call', body: textBlock(valueText(payload.args)) };
    case 'tool_ended': {
      const state = payload.result_missing === true ? 'no result' : END_WORDS[outcomeOf(payload)];
      const name = `${state} of call${callText} ${payload.tool_name}`;
      return { name, mark: payload.is_error ? 'bad' : 'call', body: textBlock(resultText(payload.result)) };
    }
    case 'feedback_produced':
    case 'guidance_produced': {
      const { speaker, text } = adviceOf(payload);
      return { name: `${speaker} of ${payload.provider_name}`, mark: 'advice', body: textBlock(text) };
    }
    case 'run_started':
      return { name: 'the run begins', mark: 'plain', body: textBlock(payload.task ?? '') };
    case 'run_ended':
      return { name: `the run ends: ${payload.outcome}`, mark: 'plain' };
    default:
      return shownAsStored(payload);
  }
}

function shownAsStored(payload: TrajectoryPayload): Shown {
  const record = { schema_version: 1, seq: 0, depth: 0, recorded_at_unix_ms: 0, payload };
  const { kind, ...rest } = toStoredRecord(record).payload;
  return { name: typeof kind === 'string' ? kind : 'record', mark: 'plain', body: textBlock(valueText(rest)) };
}

function textBlock(text: string): Html | undefined {
  if (text.trim() === '') return undefined;

  const hiddenChars = text.length - MAX_CHARS;
  const shownText = hiddenChars > 0 ? `${text.slice(0, MAX_CHARS)}\n… ${hiddenChars} more characters` : text;
  if (text.length <= FOLDED_CHARS) return html`<pre>${shownText}</pre>`;
  const head = text.slice(0, 120).replaceAll(/\s+/g, ' ');
  return html`<details>
    <summary>${head}… (${text.length} characters)</summary>
    <pre>${shownText}</pre>
  </details>`;
}

function contentText(content: StoredContent): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => {
      switch (part.type) {
        case 'text':
          return part.text;
        case 'reasoning':
          return `(thinking) ${part.text}`;
        case 'tool_call':
          // The arguments are shown at the call.
          return `(calls ${part.name})`;
        case 'image':
          return `(an image, ${part.media_type}, left out)`;
        case 'other':
          return valueText(part.value);
        default:
          return assertNever(part);
      }
    })
    .join('\n');
}

/** Returns a heading on one line for any tool name. */
export function shortName(name: string): string {
  const line = name.slice(0, 2 * MAX_NAME_CHARS).replaceAll(/\s+/g, ' ');
  return line.length <= MAX_NAME_CHARS ? line : `${line.slice(0, MAX_NAME_CHARS - 1)}…`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}

/** Formats a time in UTC. */
export function utcText(atMs: number): string {
  const date = new Date(atMs);
  // A source may contain an invalid time.
  return Number.isNaN(date.getTime()) ? String(atMs) : date.toISOString().slice(0, 19).replace('T', ' ');
}
