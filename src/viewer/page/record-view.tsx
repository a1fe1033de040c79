import { adviceOf } from '../../core/records/advice-of.ts';
import { memo, type ReactElement } from 'react';

import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { AdviceMark, NumberedCall } from '../server/api-shapes.ts';
import { nextText } from '../../core/facts/followed-text.ts';
import { deliveryOf, fateClass } from './advice-words.ts';
import { CallView, ChangedText, ResultView } from './call-view.tsx';
import { differingParts } from './common-start.ts';
import { differenceBetween } from './equal-call.ts';
import { DetailView, EventView, PatternView, RawView } from './event-view.tsx';
import { FoldedText } from './folded-text.tsx';
import { MessageView } from './message-view.tsx';
import { countOf, countText } from '../../core/base/number-text.ts';
import { clockText, fullTimeText } from './number-text.ts';
import type { RowKind } from './record-row.ts';
import type { RepeatStretch } from './repeat-stretches.ts';
import { RowBoundary } from './row-boundary.tsx';
import { safeLine } from './safe-text.ts';
import { isTold } from './sentences.ts';
import { textOf, withoutBlankLines } from './text-of.ts';

/** Maximum number of headlines shown for calls that failed alike. */
const MAX_HEADLINES = 4;

/** Renders one row of the conversation. */
export const RecordView = memo(function RecordView(props: {
  readonly record: TrajectoryRecord;
  /** For a call: the record of its result. */
  readonly end: TrajectoryRecord | undefined;
  readonly kind: RowKind;
  /** For a call: its number and kind. */
  readonly call: NumberedCall | undefined;
  /** The text about the repeated call, as in `CallView`. */
  readonly equal: string | undefined;
  /** The series of equal calls or equal failures of which this is the second call. */
  readonly stretch: RepeatStretch | undefined;
  /** The headlines of calls that failed alike, one per line. */
  readonly headlines: string | undefined;
  readonly isFolded: boolean;
  readonly onFold: (seq: number) => void;
  /** The label of the call. */
  readonly label: string | undefined;
  /** For advice: the advice with its outcome. */
  readonly advice: AdviceMark | undefined;
  /** CSS classes: `is-selected`, `is-stuck` (inside a stuck pattern), `is-evidence` (evidence of advice). */
  readonly marks: string;
  readonly onSelect: (seq: number) => void;
}): ReactElement {
  const { call, label, record, stretch, onSelect } = props;
  const repeats = (stretch?.calls.length ?? 1) - 1;
  const { seq, recorded_at_unix_ms: atMs } = record;
  const isFailed = [record, props.end].some(
    (part) => part?.payload.kind === 'tool_ended' && part.payload.is_error && props.kind !== 'none',
  );
  return (
    <article
      className={`row ${props.marks} ${isFailed ? 'is-failed' : ''}`}
      data-seq={seq}
      aria-current={props.marks.includes('is-selected') ? 'true' : undefined}
      onClick={({ target }) => {
        const isControl = target instanceof Element && target.closest('button, a, summary') !== null;
        // Selecting text for copying must not choose the row.
        if (!isControl && getSelection()?.isCollapsed !== false) onSelect(seq);
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
          {call === undefined ? null : (
            <>
              <span className="visually-hidden">Call </span>
              <b>
                {countText(call.call)}
                {props.isFolded ? `–${countText(call.call + repeats - 1)}` : ''}
              </b>{' '}
            </>
          )}
          <span className={call === undefined ? undefined : 'clock'}>
            {clockText(atMs) || (call === undefined ? `#${countText(seq)}` : '')}
          </span>
        </button>
        {label === undefined ? null : <span className="tag label">{label}</span>}
      </div>
      <div>
        {stretch === undefined ? null : (
          <Stretch
            stretch={stretch}
            headlines={props.headlines?.split('\n') ?? []}
            firstCall={(call?.call ?? 0) - 1}
            isFolded={props.isFolded}
            onFold={() => props.onFold(seq)}
          />
        )}
        {props.isFolded ? null : (
          <RowBoundary instead={<RawView payload={record.payload} seq={seq} />}>
            <Body
              record={record}
              end={props.end}
              kind={props.kind}
              call={call}
              equal={props.equal}
              advice={props.advice}
            />
          </RowBoundary>
        )}
      </div>
    </article>
  );
});

/** Renders the button that folds a series of calls. For calls that failed alike, it also shows how their arguments differ. */
function Stretch(props: {
  readonly stretch: RepeatStretch;
  /** Of each call. Empty for equal calls. */
  readonly headlines: readonly string[];
  readonly firstCall: number;
  readonly isFolded: boolean;
  readonly onFold: () => void;
}): ReactElement {
  const { firstCall, headlines, isFolded, onFold } = props;
  const { calls, failure, messages } = props.stretch;
  const count = calls.length - 1;
  const between = messages === 0 ? '' : ` · ${countOf(messages, 'message')} between them`;
  const unfolded = failure === undefined ? 'equal calls' : 'calls with the same failure';
  const parts = differingParts(headlines.slice(1)).map(([part, times]) =>
    times === 1 ? part : `${part} ×${countText(times)}`,
  );
  return (
    <>
      <button type="button" className="stretch" aria-expanded={!isFolded} onClick={onFold}>
        {!isFolded ? (
          `Fold these ${countText(count)} ${unfolded}`
        ) : failure === undefined ? (
          `${countOf(count, 'more call')}, the same with the same result${between}`
        ) : (
          <>
            {countOf(count, 'more call')}, <b>the same failure</b>: <code>{safeLine(failure)}</code>
            {between}
            <span className="differing">
              {parts.length === 1 ? 'other results of ' : 'other arguments: '}
              <code>{parts.slice(0, MAX_HEADLINES).join(' · ')}</code>
              {parts.length > MAX_HEADLINES ? ` · ${countText(parts.length - MAX_HEADLINES)} more` : ''}
            </span>
          </>
        )}
      </button>
      {isFolded && parts.length > 1 ? (
        <details className="argument-changes">
          <summary>Compare the arguments</summary>
          <ol start={firstCall}>
            {headlines.map((args, at) => (
              // The calls of a series have a fixed order.
              <li key={at}>
                <code>
                  <ChangedText args={args} {...differenceBetween(headlines[at - 1] ?? args, args)} />
                </code>
              </li>
            ))}
          </ol>
        </details>
      ) : null}
    </>
  );
}

function Body(props: {
  readonly record: TrajectoryRecord;
  readonly end: TrajectoryRecord | undefined;
  readonly kind: RowKind;
  readonly call: NumberedCall | undefined;
  readonly equal: string | undefined;
  readonly advice: AdviceMark | undefined;
}): ReactElement | null {
  const { record, kind } = props;
  const { payload, seq } = record;
  if (kind === 'detail') return <DetailView payload={payload} seq={seq} />;
  switch (payload.kind) {
    case 'tool_started':
      return (
        <CallView
          record={record}
          call={payload}
          end={props.end}
          kind={props.call?.kind ?? 'unknown'}
          equal={props.equal}
        />
      );
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
      return isTold(payload) ? <EventView payload={payload} /> : <DetailView payload={payload} seq={seq} />;
  }
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
            <span className={`tag ${fateClass(advice.nextCall)}`} title={advice.fate}>
              {nextText(advice.nextCall)}
            </span>
          </>
        )}
      </div>
      <FoldedText shown={{ ...shown, text: withoutBlankLines(shown.text) }} seq={props.seq} part="advice" />
    </div>
  );
}
