import type { ReactElement } from 'react';

import type { StoredContentBlock, StoredMessage } from '../../core/records/stored-message.ts';
import { FoldedText } from './folded-text.tsx';
import { Picture } from './picture.tsx';
import { safeLine } from './safe-text.ts';
import { textOf } from './text-of.ts';

const NAMES: Readonly<Record<StoredMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Agent',
  tool_result: 'Result',
};

/** Renders a message or reasoning. Calls have separate rows. */
export function MessageView(props: { readonly message: StoredMessage; readonly seq: number }): ReactElement {
  const { message, seq } = props;
  const { content } = message;
  // A truncated value is neither a text nor a list of parts.
  const parts: readonly StoredContentBlock[] | undefined = Array.isArray(content) ? content : undefined;
  return (
    <div className={`said ${message.role}`}>
      {/* The role is hidden for the agent, because most messages are the agent's. */}
      <div className={message.role === 'assistant' ? 'visually-hidden' : 'who'}>{NAMES[message.role]}</div>
      {message.role === 'assistant' && message.error_message !== undefined ? (
        <div className="bad">{safeLine(message.error_message).slice(0, 300)}</div>
      ) : null}
      {parts === undefined ? <FoldedText shown={textOf(content)} seq={seq} part="said" isMarkdown /> : null}
      {parts?.map((block, at) => (
        // The parts of a stored message have a fixed order.
        <Block key={at} block={block} seq={seq} part={`said.${at}`} />
      ))}
    </div>
  );
}

function Block(props: {
  readonly block: StoredContentBlock;
  readonly seq: number;
  readonly part: string;
}): ReactElement | null {
  const { block, seq, part } = props;
  switch (block.type) {
    case 'text':
      return <FoldedText shown={textOf(block.text)} seq={seq} part={part} isMarkdown />;
    case 'reasoning':
      return (
        <div className="said reasoning">
          <FoldedText shown={textOf(block.text)} seq={seq} part={part} isMarkdown />
        </div>
      );
    case 'tool_call':
      return null;
    case 'image':
      return (
        <Picture
          picture={{ mediaType: block.media_type, data: block.data_base64 ?? { bytes: block.bytes } }}
          seq={seq}
        />
      );
    case 'other':
      return <FoldedText shown={textOf(block.value)} seq={seq} part={part} />;
    default:
      // This version does not know the type of this part.
      return <FoldedText shown={textOf(block)} seq={seq} part={part} />;
  }
}
