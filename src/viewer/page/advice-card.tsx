import type { ReactElement, ReactNode } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import { timesSeen } from '../../core/facts/seen-pattern.ts';
import { safeText } from '../../core/base/printable.ts';
import type { AdviceMark, CallMark, EvidenceCall, PatternSpan, RunAnswer } from '../server/api-shapes.ts';
import { deliveryOf, patternName, POINT_WORDS } from './advice-words.ts';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
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
        <Fact name="Why">{safeLine(mark.why ?? '')}</Fact>
        <Evidence calls={mark.evidence} onGo={onGo} />
        <Fact name={mark.delivered === false ? 'Meant' : 'Said'}>
          as {mark.speaker}, after {countOf(mark.callsBefore, 'call')}
          {deliveryText === '' ? '' : `, ${safeLine(deliveryText)}`}
        </Fact>
        <Fact name="Not said">{safeLine(mark.reason ?? '')}</Fact>
        <Fact name={`${countOf(mark.around.before.length, 'call')} before`}>{aroundText(mark.around.before)}</Fact>
        <Fact name={`${countOf(mark.around.after.length, 'call')} after`}>{aroundText(mark.around.after)}</Fact>
        <Fact name="Then" className={mark.isLeft ? 'good' : undefined}>
          {mark.fate}
        </Fact>
        <Fact name="Agent">{mark.acknowledged === undefined ? '' : `${mark.acknowledged} it`}</Fact>
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

/** How the calls before or after the advice compare with the last call before it. */
function aroundText(calls: readonly CallMark[]): string {
  const counts = AROUND_WORDS.map(([mark, words]) => [calls.filter((call) => call === mark).length, words] as const);
  const parts = counts.flatMap(([count, words]) => (count === 0 ? [] : [`${countText(count)} ${words}`]));
  return parts.join(', ');
}

/** A line of a card; none without a text. */
function Fact(props: {
  readonly name: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}): ReactElement | null {
  return props.children === '' ? null : (
    <>
      <dt>{props.name}</dt>
      <dd className={props.className}>{props.children}</dd>
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
    <Fact name="Evidence" className="calls-list">
      {calls.slice(-MAX_EVIDENCE).map(({ call, seq }) => (
        <button key={call} type="button" aria-label={`Call ${call}`} onClick={() => onGo(seq)}>
          {call}
        </button>
      ))}
    </Fact>
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
        <Fact name="Seen">
          {timesSeen({ ...span, clearedAt: span.toCall }, answer.overview.patternBasis)}
          {span.tool === undefined ? '' : ` with ${safeLine(span.tool).slice(0, 80)}`}
        </Fact>
        <Fact name="Calls">
          {countText(span.fromCall)} to{' '}
          {span.toCall === null ? 'the end, not cleared' : `${countText(span.toCall)}, then cleared`}
        </Fact>
        <Evidence calls={span.evidence} onGo={onGo} />
      </dl>
    </article>
  );
}
