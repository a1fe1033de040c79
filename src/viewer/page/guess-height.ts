import { adviceOf } from '../../core/records/advice-of.ts';
import type { StoredContent } from '../../core/records/stored-message.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { FOLDED_CHARS, FOLDED_LINES } from './folded-text.tsx';
import type { RecordPages } from './record-pages.ts';
import { headlineOf, isCut, isObject } from './text-of.ts';

/** Heights from `style.css`, measured at its default size. A wrong guess is corrected when the row becomes visible. */
const LINE_PX = 18.6;
const ROW_PX = 8;
const HEAD_PX = 30;
const FOLD_PX = 22;
const OTHER_PX = 34;
/** Characters per line in a window of usual width. */
const LINE_CHARS = 120;

/**
 * Estimates the height of a record's row, so that little moves when the row becomes visible. Cost: reads the first characters of the
 * record.
 */
export function guessHeight(record: TrajectoryRecord, pages: RecordPages): number {
  const { payload, seq } = record;
  switch (payload.kind) {
    case 'tool_started': {
      const end = pages.endOf(payload.tool_call_id, seq);
      const endPayload = end === undefined ? undefined : pages.at(end)?.payload;
      const resultPx = endPayload?.kind === 'tool_ended' ? textPx(endPayload.result) + 9 : 0;
      return ROW_PX + HEAD_PX + argumentsPx(payload.args) + resultPx;
    }
    case 'tool_ended':
      return ROW_PX + HEAD_PX + textPx(payload.result) + 9;
    case 'message_appended':
      return saidPx(payload.message.content, payload.message.role === 'user');
    case 'turn_ended':
      return saidPx(payload.assistant.content, false);
    case 'feedback_produced':
    case 'guidance_produced':
      return ROW_PX + HEAD_PX + textPx(adviceOf(payload).text);
    default:
      return OTHER_PX;
  }
}

function saidPx(content: StoredContent, isUser: boolean): number {
  const fixedPx = ROW_PX + 8 + (isUser ? 28 : 0);
  if (!Array.isArray(content)) return fixedPx + textPx(content);
  let sum = fixedPx;
  for (const block of content) if ('text' in block) sum += textPx(block.text);
  return sum;
}

function argumentsPx(args: unknown): number {
  const { isWhole, shownName } = headlineOf(args);
  if (isWhole) return 0;
  if (!isObject(args) || isCut(args)) return textPx(args);
  let sum = 4;
  for (const [name, value] of Object.entries(args)) if (name !== shownName) sum += textPx(value);
  return sum;
}

/** Estimates the height of a folded text. */
function textPx(value: unknown): number {
  const text = isCut(value) ? value.$cut.preview : value;
  if (typeof text !== 'string') return 3 * LINE_PX;
  const shownText = text.slice(0, FOLDED_CHARS);
  let lines = 0;
  for (const line of shownText.split('\n')) lines += Math.max(1, Math.ceil(line.length / LINE_CHARS));
  const isFolded = lines > FOLDED_LINES + 3 || shownText.length < text.length;
  return isFolded ? FOLDED_LINES * LINE_PX + FOLD_PX : lines * LINE_PX;
}
