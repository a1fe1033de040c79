import type { JsonObject } from '../../core/base/json.ts';
import type { StoredContentBlock } from '../../core/records/agent-message.ts';
import { storedBlocks, textOfBlock, textOfJson } from './transcript.ts';
import type { Transcript, TranscriptPart } from './transcript.ts';

/** Converts a run to `{id, messages}` for OpenAI's chat completions. Reasoning, failures and times are omitted. */
export function chatMessages({ parts, run }: Transcript): JsonObject {
  return { id: run.runId, messages: parts.flatMap(messagesOf) };
}

function messagesOf(part: TranscriptPart): readonly JsonObject[] {
  if (part.type === 'compaction') return [];
  if (part.type === 'message') return [{ role: part.role, content: contentOf(storedBlocks(part.content)) }];
  const { blocks, calls } = part;
  // The API rejects a call without a result.
  const answeredCalls = calls.flatMap(({ answer, ...call }) => (answer === undefined ? [] : [{ ...call, answer }]));
  const text = blocks
    .filter(({ type }) => type !== 'reasoning')
    .map(textOfBlock)
    .join('\n');
  const toolCalls = answeredCalls.map(({ args, id, tool }) => {
    return { id, type: 'function', function: { name: tool, arguments: textOfJson(args) } };
  });
  if (text === '' && toolCalls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    },
    ...answeredCalls.map(({ answer, id }) => ({ role: 'tool', tool_call_id: id, content: textOfJson(answer.result) })),
  ];
}

function contentOf(blocks: readonly StoredContentBlock[]): JsonObject['content'] {
  const hasPicture = blocks.some((block) => block.type === 'image' && block.url !== undefined);
  if (!hasPicture) return blocks.map(textOfBlock).join('\n');
  return blocks.map((block) =>
    block.type === 'image' && block.url !== undefined
      ? { type: 'image_url', image_url: { url: block.url } }
      : { type: 'text', text: textOfBlock(block) },
  );
}
