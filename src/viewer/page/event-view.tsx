import type { ReactElement } from 'react';

import { rowOf } from '../../core/records/kind-definition.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { FoldedText } from './folded-text.tsx';
import { countOf } from '../../core/base/number-text.ts';
import { patternName } from './pattern-name.ts';
import { safeLine } from './safe-text.ts';
import { sentenceOf, type ToldPayload } from './sentences.ts';
import { textOf } from './text-of.ts';

/** Renders an event of the run, or a fault of coxswain, in one line. */
export function EventView({ payload }: { readonly payload: ToldPayload }): ReactElement {
  const [title, text] = sentenceOf(payload);
  return (
    <div className="event">
      <b className={rowOf(payload) === 'fault' ? 'bad' : undefined}>{title}</b>
      <span>{safeLine(text).slice(0, 400)}</span>
    </div>
  );
}

/** Renders a pattern that was flagged or cleared. */
export function PatternView(props: { readonly pattern: TrajectoryPattern; readonly isCleared: boolean }): ReactElement {
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

/** Renders a record as JSON if it does not have the shape of its kind, for example because a name was truncated. */
export function RawView(props: { readonly payload: unknown; readonly seq: number }): ReactElement {
  return <FoldedText shown={textOf(props.payload)} seq={props.seq} part="raw" />;
}

/** Renders a record as it is stored. */
export function DetailView(props: { readonly payload: TrajectoryPayload; readonly seq: number }): ReactElement {
  const { kind, ...rest } = props.payload;
  const name = kind === 'unrecognised' && 'original' in rest ? storedKind(rest.original) : kind;
  return (
    <details className="detail">
      <summary>{safeLine(name).slice(0, 80)}</summary>
      <FoldedText shown={textOf(rest)} seq={props.seq} part="detail" />
    </details>
  );
}

function storedKind(original: unknown): string {
  if (typeof original !== 'object' || original === null || !('kind' in original)) return 'unrecognised';
  return String(original.kind);
}
