import { countOf } from '../../core/base/number-text.ts';
import { outcomeOf } from '../../core/records/call-outcome.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunAnswer } from '../server/api-shapes.ts';
import type { RecordPages } from './record-pages.ts';
import { storyOf } from './run-story.tsx';
import { safeLine } from './safe-text.ts';
import { textOf } from './text-of.ts';

/** Longer texts are truncated. */
const MAX_CHARS = 4_000;
const HEADINGS = { ok: 'Result:', failed: 'It failed:', refused: 'It was refused:', cancelled: 'It was cancelled:' };

/** Formats a row as Markdown: the call or message, and the result. @param link  link to the row */
export function markdownOf(record: TrajectoryRecord, pages: RecordPages, link: string): string {
  const { payload, seq } = record;
  const parts = [`### Record ${seq}, \`${payload.kind}\``, `<${link}>`];
  if (payload.kind === 'tool_started') {
    parts[0] = `### Call of \`${payload.tool_name.replaceAll('`', '')}\``;
    parts.push(fenceText(textOf(payload.args).text));
    const end = pages.endOf(payload.tool_call_id, seq);
    const result = end === undefined ? undefined : pages.at(end)?.payload;
    if (result?.kind === 'tool_ended') {
      parts.push(HEADINGS[outcomeOf(result)], fenceText(textOf(result.result).text));
    }
  } else if (payload.kind === 'message_appended') {
    parts[0] = `### ${payload.message.role}`;
    parts.push(fenceText(textOf(payload.message.content).text));
  } else if (payload.kind === 'feedback_produced') parts.push(fenceText(payload.text));
  else if (payload.kind === 'guidance_produced') parts.push(fenceText(textOf(payload.injection.content).text));
  return `${parts.join('\n\n')}\n`;
}

/** Formats the title of a run and its four sentences as Markdown. @param link  link to the run */
export function storyMarkdown(answer: RunAnswer, link: string): string {
  const { runId, task } = answer.run;
  const sentences = storyOf(answer).map(
    ({ name, pieces }) =>
      `- **${name}** ${pieces.map(({ style, text }) => (style === 'code' ? `\`${text.replaceAll('`', "'")}\`` : text)).join('')}`,
  );
  return `### ${safeLine(task ?? runId)}\n\n<${link}>\n\n${sentences.join('\n')}\n`;
}

/** Returns a fenced code block with a fence that does not occur in the text. */
function fenceText(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const leftOutChars = text.length - MAX_CHARS;
  const leftOutText = leftOutChars > 0 ? `\n… ${countOf(leftOutChars, 'more character')}` : '';
  return `${fence}\n${text.slice(0, MAX_CHARS).toWellFormed()}${leftOutText}\n${fence}`;
}
