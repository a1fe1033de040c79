import { Component, memo, type ReactElement, type ReactNode } from 'react';

import { countOf, countText, usdText } from '../../core/base/number-text.ts';
import { nextText } from '../../core/facts/followed-text.ts';
import { slashCommand } from '../../core/facts/task-title.ts';
import { adviceOf } from '../../core/records/derived-payload.ts';
import { rowOf } from '../../core/records/kind-definition.ts';
import type { StoredContentBlock, StoredMessage } from '../../core/records/agent-message.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { AdviceMark } from '../server/api-shapes.ts';
import { deliveryOf, FATE_CLASSES, patternName } from './advice-words.ts';
import { type CallProps, CallView, ResultView } from './call-view.tsx';
import { FoldedText } from './folded-text.tsx';
import { clockText, fullTimeText } from './number-text.ts';
import { Picture } from './picture.tsx';
import { safeLine } from './safe-text.ts';
import { isTold, sentenceOf, type ToldPayload } from './sentences.ts';
import { textOf, withoutBlankLines, type ShownText } from './text-of.ts';

const MAX_TITLE_CHARS = 200;

export interface RecordProps extends Omit<CallProps, 'call'> {
  readonly label: string | undefined;
  readonly advice: AdviceMark | undefined;
  /** CSS classes: `is-selected`, `is-stuck` (inside a stuck pattern). */
  readonly marks: string;
  readonly onSelect: (seq: number) => void;
}

export const RecordView = memo(function RecordView(props: RecordProps): ReactElement {
  const { isOpen, label, record, row, onSelect, onToggle } = props;
  const { seq, recorded_at_unix_ms: atMs } = record;
  const isSelected = props.marks.includes('is-selected');
  return (
    <article
      className={`row ${props.marks} ${row.failed === true ? 'is-failed' : ''}`}
      data-seq={seq}
      aria-current={isSelected ? 'true' : undefined}
      onClick={({ target }) => {
        const isControl = target instanceof Element && target.closest('button, a, summary') !== null;
        // Selecting text for copying must not choose the row.
        if (isControl || getSelection()?.isCollapsed === false) return;
        onSelect(seq);
        const isHead = target instanceof Element && target.closest('.call-head') !== null;
        if (isHead) onToggle(seq, !(isOpen && isSelected));
      }}
    >
      <div className="when">
        <button
          type="button"
          className="link dim"
          tabIndex={-1}
          title={`Record ${countText(seq)}, ${fullTimeText(atMs)}`}
          onClick={() => onSelect(seq)}
        >
          {row.call === undefined ? null : (
            <>
              <span className="visually-hidden">Call </span>
              <b>{countText(row.call)}</b>{' '}
            </>
          )}
          <span className={row.call === undefined ? undefined : 'clock'}>
            {clockText(atMs) || (row.call === undefined ? `#${countText(seq)}` : '')}
          </span>
        </button>
        {label === undefined ? null : <span className="tag label">{label}</span>}
      </div>
      <div className="row-body">
        <RowBoundary instead={<FoldedText shown={textOf(record.payload)} seq={seq} part="raw" />}>
          <Body {...props} />
        </RowBoundary>
      </div>
      <Cost usd={row.costUsd} />
    </article>
  );
});

export function Cost({ usd }: { readonly usd: number | undefined }): ReactElement {
  return <span className="turn-cost">{usd === undefined || usd === 0 ? '' : usdText(usd)}</span>;
}

/** An error boundary that keeps a malformed record from crashing the page. */
class RowBoundary extends Component<
  { readonly instead: ReactNode; readonly children: ReactNode },
  { readonly isBroken: boolean }
> {
  override state: { readonly isBroken: boolean } = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.instead : this.props.children;
  }
}

function Body(props: RecordProps): ReactElement | null {
  const { payload, seq } = props.record;
  switch (payload.kind) {
    case 'tool_started':
      return <CallView {...props} call={payload} />;
    case 'tool_ended':
      return <ResultView seq={seq} ended={payload} />;
    case 'message_appended':
      return <MessageView message={payload.message} seq={seq} />;
    case 'turn_ended':
      return <MessageView message={payload.assistant} seq={seq} />;
    case 'pattern_flagged':
    case 'pattern_cleared':
      return <PatternView pattern={payload.pattern} isCleared={payload.kind === 'pattern_cleared'} />;
    case 'feedback_produced':
    case 'guidance_produced': {
      const { speaker, text } = adviceOf(payload);
      const who = `${speaker === 'feedback' ? 'Feedback' : 'Guidance'} by ${payload.provider_name}`;
      return <Spoken who={who} text={text} seq={seq} advice={props.advice} />;
    }
    default:
      return isTold(payload) ? <EventView payload={payload} /> : null;
  }
}

function MessageView({ message, seq }: { readonly message: StoredMessage; readonly seq: number }): ReactElement {
  const { content, role } = message;
  // A truncated value is neither a text nor a list of parts.
  const blocks: readonly StoredContentBlock[] | undefined = Array.isArray(content) ? content : undefined;
  return (
    <div className={`said ${role}`}>
      {/* The role is hidden for the agent, because most messages are the agent's. */}
      <div className="visually-hidden">{role === 'assistant' ? 'Agent' : role === 'user' ? 'User' : 'System'}</div>
      {role === 'assistant' && message.error_message !== undefined ? (
        <div className="bad">{safeLine(message.error_message).slice(0, 300)}</div>
      ) : null}
      {blocks === undefined ? <Said role={role} shown={textOf(content)} seq={seq} part="said" /> : null}
      {blocks?.map((block, at) => (
        // The parts of a stored message have a fixed order.
        <Block key={at} block={block} role={role} seq={seq} part={`said.${at}`} />
      ))}
    </div>
  );
}

interface PartProps {
  readonly role: StoredMessage['role'];
  readonly seq: number;
  readonly part: string;
}

function Block(props: PartProps & { readonly block: StoredContentBlock }): ReactElement | null {
  const { block, part, role, seq } = props;
  switch (block.type) {
    case 'text':
      return <Said role={role} shown={textOf(block.text)} seq={seq} part={part} />;
    case 'reasoning':
      return <Thought shown={textOf(block.text)} seq={seq} part={part} />;
    case 'tool_call':
      return null;
    case 'image': {
      const picture = { mediaType: block.media_type, data: block.data_base64 ?? { bytes: block.bytes } };
      return <Picture picture={picture} seq={seq} />;
    }
    default:
      // This version may not know the type of this part.
      return <FoldedText shown={textOf(block.type === 'other' ? block.value : block)} seq={seq} part={part} />;
  }
}

function Thought(props: Omit<PartProps, 'role'> & { readonly shown: ShownText }): ReactElement | null {
  const text = props.shown.text.trim();
  if (text === '') return null;
  return (
    <details className="thought dim">
      <summary>{safeLine(text.slice(0, MAX_TITLE_CHARS))}</summary>
      <FoldedText {...props} isMarkdown isWhole />
    </details>
  );
}

function Said({ part, role, seq, shown }: PartProps & { readonly shown: ShownText }): ReactElement | null {
  if (role === 'assistant') return <FoldedText shown={shown} seq={seq} part={part} isMarkdown isWhole />;
  const command = slashCommand(shown.text);
  if (command !== undefined) {
    return (
      <h3>
        <kbd>/{safeLine(command.name.replace(/^\//, ''))}</kbd> {safeLine(command.args)}
      </h3>
    );
  }
  if (shown.text.startsWith('<local-command')) return <Thought shown={shown} seq={seq} part={part} />;
  const text = shown.text.trim();
  const end = text.indexOf('\n');
  const title = end < 0 ? text : text.slice(0, end);
  if (role === 'system' || title.length > MAX_TITLE_CHARS || text === '')
    return <FoldedText shown={shown} seq={seq} part={part} isMarkdown />;
  const { raw: _raw, ...rest } = shown;
  return (
    <>
      <h3>{title.replace(/^#+\s*/, '')}</h3>
      <FoldedText shown={{ ...rest, text: text.slice(title.length).trim() }} seq={seq} part={part} isMarkdown />
    </>
  );
}

function EventView({ payload }: { readonly payload: ToldPayload }): ReactElement {
  const [title, text] = sentenceOf(payload);
  return (
    <div className="event">
      <b className={rowOf(payload) === 'fault' ? 'bad' : undefined}>{title}</b>
      <span>{safeLine(text).slice(0, 400)}</span>
    </div>
  );
}

function PatternView(props: { readonly pattern: TrajectoryPattern; readonly isCleared: boolean }): ReactElement {
  const { pattern, isCleared } = props;
  const subjectText = pattern.subject === undefined ? '' : ` (${safeLine(pattern.subject)})`;
  const tool = pattern.tool === undefined ? '' : ` with ${safeLine(pattern.tool).slice(0, 80)}${subjectText}`;
  return (
    <div className="noticed">
      <span className="who">
        {isCleared ? 'Left: ' : ''}
        {patternName(pattern.kind)}
      </span>{' '}
      {isCleared
        ? ''
        : `${countOf(pattern.occurrences, 'time')}${tool} · ${pattern.stuck ? 'says stuck' : 'says inefficient'}, ${pattern.level}`}
    </div>
  );
}

function Spoken(props: {
  readonly who: string;
  readonly text: unknown;
  readonly seq: number;
  readonly advice: AdviceMark | undefined;
}): ReactElement {
  const { advice } = props;
  const shown = textOf(props.text);
  const delivery = advice === undefined ? undefined : deliveryOf(advice);
  return (
    <div className={advice === undefined || advice.delivered === true ? 'spoken said' : 'spoken said is-unsaid'}>
      <div className="who">
        {safeLine(props.who).slice(0, 160)}{' '}
        {advice === undefined || delivery === undefined ? null : (
          <>
            <span className={advice.delivered === true ? 'dim' : `tag ${delivery.className}`}>{delivery.text}</span>{' '}
            <span className={`tag ${FATE_CLASSES[advice.nextCall]}`} title={advice.fate}>
              {nextText(advice.nextCall)}
            </span>
          </>
        )}
      </div>
      <FoldedText shown={{ ...shown, text: withoutBlankLines(shown.text) }} seq={props.seq} part="advice" />
    </div>
  );
}
