import type { ReactElement } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import { timesSeen } from '../../core/facts/seen-pattern.ts';
import { safeText } from '../../core/base/printable.ts';
import type { AdviceMark, CallMark, EvidenceCall, PatternSpan, RunAnswer } from '../server/api-shapes.ts';
import { deliveryOf, POINT_WORDS } from './advice-words.ts';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { patternName } from './pattern-name.ts';
import { safeLine } from './safe-text.ts';
import { sharedRun } from './shared-runs.ts';
import { withoutBlankLines } from './text-of.ts';
import { LABEL_WORDS, type Labels } from './use-labels.ts';

const MAX_EVIDENCE = 12;

export interface CardProps {
  readonly answer: RunAnswer;
  readonly labels: Labels;
  readonly onGo: (seq: number) => void;
}

export function AdviceCard(props: CardProps & { readonly mark: AdviceMark }): ReactElement {
  const { mark, onGo } = props;
  const delivery = deliveryOf(mark);
  const patternKind = props.answer.overview.patterns.find(({ identity }) => identity === mark.pattern?.identity)?.kind;
  const deliveryText = [mark.channel, mark.point && POINT_WORDS[mark.point]].filter(Boolean).join(', ');
  return (
    <article className="card">
      <div className="card-head">
        <h3>
          <button type="button" className="link" onClick={() => onGo(mark.seq)}>
            {safeLine(mark.provider).slice(0, 100)}
          </button>
        </h3>
        {mark.severity === undefined || mark.severity === 'info' ? null : (
          <span className={mark.severity === 'warning' ? 'tag bad' : 'tag stuck'}>{mark.severity}</span>
        )}
        <span className={`tag ${delivery.className}`}>{delivery.text}</span>
      </div>
      <p dir="auto">{withoutBlankLines(safeText(mark.text))}</p>
      <dl>
        {mark.why === undefined || mark.why === '' ? null : (
          <>
            <dt>Why</dt>
            <dd>{safeLine(mark.why)}</dd>
          </>
        )}
        <Evidence calls={mark.evidence} onGo={onGo} />
        <dt>{mark.delivered === false ? 'Meant' : 'Said'}</dt>
        <dd>
          as {mark.speaker}, after {countOf(mark.callsBefore, 'call')}
          {deliveryText === '' ? '' : `, ${safeLine(deliveryText)}`}
        </dd>
        {mark.reason === undefined ? null : (
          <>
            <dt>Not said</dt>
            <dd>{safeLine(mark.reason)}</dd>
          </>
        )}
        <Around place="before" calls={mark.around.before} />
        <Around place="after" calls={mark.around.after} />
        <dt>Then</dt>
        <dd className={mark.isLeft ? 'good' : undefined}>{mark.fate}</dd>
        {mark.acknowledged === undefined ? null : (
          <>
            <dt>Agent</dt>
            <dd>{mark.acknowledged} it</dd>
          </>
        )}
      </dl>
      {patternKind === undefined || sharedRun !== undefined ? null : (
        <p>
          <Link to={{ page: 'runs', filters: { pattern: patternKind } }}>All runs with this pattern</Link>
        </p>
      )}
      {mark.pattern === undefined ? null : <Judgement call={mark.callsBefore} labels={props.labels} />}
    </article>
  );
}

const AROUND_WORDS: readonly (readonly [CallMark, string])[] = [
  ['same-failure', 'failed in the same way'],
  ['other-failure', 'failed in another way'],
  ['no-failure', 'did not fail'],
];

/** Shows how the calls before or after the advice compare with the last call before it. */
function Around(props: { readonly place: string; readonly calls: readonly CallMark[] }): ReactElement | null {
  const { calls, place } = props;
  if (calls.length === 0) return null;
  const parts = AROUND_WORDS.map(([mark, words]) => [calls.filter((call) => call === mark).length, words] as const);
  return (
    <>
      <dt>
        {countOf(calls.length, 'call')} {place}
      </dt>
      <dd>
        {parts
          .filter(([count]) => count > 0)
          .map(([count, words]) => `${countText(count)} ${words}`)
          .join(', ')}
      </dd>
    </>
  );
}

const JUDGEMENTS = [
  ['stuck', 'useful'],
  ['ok', 'wrong'],
] as const;

/** Buttons that judge an advice text by the label of the call before it. A backtest counts these labels. */
function Judgement(props: { readonly call: number; readonly labels: Labels }): ReactElement | null {
  const { call, labels } = props;
  if (call === 0 || sharedRun !== undefined) return null;
  const label = labels.labelOf(call);
  return (
    <p className="judgement" role="group" aria-label={`The advice after call ${call} is`}>
      {JUDGEMENTS.map(([target, words]) => (
        <button
          key={target}
          type="button"
          aria-pressed={label === target}
          title={`Labels call ${call}: ${LABEL_WORDS[target]}`}
          onClick={() => labels.setLabel(label === target ? null : target, call)}
        >
          {words}
        </button>
      ))}
    </p>
  );
}

function Evidence(props: {
  readonly calls: readonly EvidenceCall[];
  readonly onGo: (seq: number) => void;
}): ReactElement | null {
  const { calls, onGo } = props;
  if (calls.length === 0) return null;
  return (
    <>
      <dt>Evidence</dt>
      <dd className="calls-list">
        {calls.slice(-MAX_EVIDENCE).map(({ call, seq }) => (
          <button key={call} type="button" aria-label={`Call ${call}`} onClick={() => onGo(seq)}>
            {call}
          </button>
        ))}
      </dd>
    </>
  );
}

export function PatternCard(props: CardProps & { readonly span: PatternSpan }): ReactElement {
  const { answer, span, onGo } = props;
  return (
    <article className="card">
      <div className="card-head">
        <h3>
          <button type="button" className="link" onClick={() => onGo(span.flaggedSeq ?? span.fromSeq)}>
            {patternName(span.kind)}
          </button>
        </h3>
        <FilterTag
          className={span.stuck ? 'stuck' : ''}
          filters={{ pattern: span.kind }}
          title="Runs with this pattern"
        >
          {span.stuck ? 'stuck' : 'inefficient'}, {span.level}
        </FilterTag>
      </div>
      <dl>
        <dt>Seen</dt>
        <dd>
          {timesSeen({ ...span, clearedAt: span.toCall }, answer.overview.patternBasis)}
          {span.tool === undefined ? '' : ` with ${safeLine(span.tool).slice(0, 80)}`}
        </dd>
        <dt>Calls</dt>
        <dd>
          {countText(span.fromCall)} to{' '}
          {span.toCall === null ? 'the end, not cleared' : `${countText(span.toCall)}, then cleared`}
        </dd>
        <Evidence calls={span.evidence} onGo={onGo} />
      </dl>
    </article>
  );
}
