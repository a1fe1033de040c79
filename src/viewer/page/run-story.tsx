import type { ReactElement, ReactNode } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import { inWords } from '../../records/words.ts';
import { timesSeen } from '../../run-view/seen-pattern.ts';
import { tokenFacts } from '../../run-view/usage-text.ts';
import type { AdviceMark, Overview, RunAnswer } from '../server/api-shapes.ts';
import { costText, shareOrDash, spanText } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { safeLine } from './safe-text.ts';

const MAX_LINE = 80;

/** Summarises the run in four sentences: where it got stuck, what that cost, the advice, and what followed. */
export function RunStory(props: { readonly answer: RunAnswer; readonly onGo: (seq: number) => void }): ReactElement {
  const { overview, run } = props.answer;
  const { onGo } = props;
  return (
    <dl className="story" aria-label="The run in four sentences">
      <Part name="Got stuck" mark={overview.patterns.some(({ stuck }) => stuck) ? 'stuck' : ''}>
        <Stuck overview={overview} onGo={onGo} errorLine={run.errorLine} calls={run.calls} />
      </Part>
      <Part name="Cost of it" mark={overview.wasted === undefined ? '' : 'bad'}>
        {costSentence(overview, run.calls)}
      </Part>
      <Part name="Advice" mark={overview.advice.length > 0 ? 'advice' : ''}>
        <Advice overview={overview} onGo={onGo} />
      </Part>
      <Part name="What followed" mark="">
        {fateSentence(overview.advice)}
      </Part>
    </dl>
  );
}

function Part(props: { readonly name: string; readonly mark: string; readonly children: ReactNode }): ReactElement {
  return (
    <div className={props.mark}>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

interface SentenceProps {
  readonly overview: Overview;
  readonly onGo: (seq: number) => void;
}

function Stuck(
  props: SentenceProps & { readonly errorLine: RunAnswer['run']['errorLine']; readonly calls: number },
): ReactElement {
  const { calls, errorLine, onGo, overview } = props;
  // The first warning. The next sentence counts from it.
  const [firstWarning] = overview.patterns
    .filter(({ stuck }) => stuck)
    .toSorted((a, b) => (a.flaggedCall ?? Infinity) - (b.flaggedCall ?? Infinity));
  if (firstWarning === undefined) return <>{overview.complete ? 'Never.' : 'Not in the part read so far.'}</>;
  const otherCount = overview.patterns.filter(({ stuck }) => stuck).length - 1;
  const until = firstWarning.toCall === null ? 'to the end' : `until call ${countText(firstWarning.toCall)}`;
  return (
    <>
      From{' '}
      <button type="button" className="link" onClick={() => onGo(firstWarning.fromSeq)}>
        call {countText(firstWarning.fromCall)}
      </button>{' '}
      {until}
      {firstWarning.flaggedCall === null ? '' : `, noticed at call ${countText(firstWarning.flaggedCall)}`}:{' '}
      <b>{patternName(firstWarning.kind)}</b> (
      {timesSeen({ ...firstWarning, clearedAt: firstWarning.toCall }, overview.patternBasis)}).
      {otherCount > 0 ? ` ${countOf(otherCount, 'more pattern')}.` : ''}
      {errorLine === undefined || errorLine[1] < 2 ? null : (
        <>
          {' '}
          {countText(errorLine[1])} of {countOf(calls, 'call')}:{' '}
          <code>{safeLine(errorLine[0]).slice(0, MAX_LINE)}</code>
        </>
      )}
    </>
  );
}

function costSentence({ complete, wasted }: Overview, calls: number): string {
  if (wasted === undefined) return complete ? 'No warning, so no waste.' : 'No warning so far.';
  if (wasted.calls === 0) return 'The first warning came at the last call.';
  const parts = [
    countOf(wasted.calls, 'call'),
    ...(wasted.ms > 0 ? [spanText(wasted.ms)] : []),
    ...tokenFacts(wasted),
    ...(wasted.costUsd === undefined ? [] : [costText(wasted.costUsd)]),
  ];
  const share = shareOrDash(calls === 0 ? null : wasted.calls / calls);
  return `${parts.join(' · ')} after the first warning (${share} of the calls).`;
}

function Advice({ overview, onGo }: SentenceProps): ReactElement {
  const { advice, adviceLeftOut } = overview;
  const delivered = advice.filter((mark) => mark.delivered === true);
  const [firstDelivered] = delivered;
  const otherArms = Object.entries(Object.groupBy(advice, ({ arm }) => arm)).filter(([arm]) => arm !== 'delivered');
  const undelivered = otherArms
    .map(([arm, marks]) => `${countText(marks.length)} ${inWords('delivery', arm)}`)
    .join(', ');
  if (advice.length === 0) return <>{overview.complete ? 'None.' : 'None in the part read so far.'}</>;
  return (
    <>
      {firstDelivered === undefined ? (
        'No advice reached the agent'
      ) : (
        <>
          {countOf(delivered.length + adviceLeftOut, 'time')}, first after{' '}
          <button type="button" className="link" onClick={() => onGo(firstDelivered.seq)}>
            call {countText(firstDelivered.callsBefore)}
          </button>
        </>
      )}
      {undelivered === '' ? '.' : `; ${undelivered}.`}
    </>
  );
}

/** Describes what happened after the advice, without a claim about the cause. */
function fateSentence(advice: readonly AdviceMark[]): string {
  if (advice.length === 0) return 'There was no advice.';
  const reached = advice.filter((mark) => mark.delivered === true);
  const isSilent = reached.length === 0;
  const marks = isSilent ? advice : reached;
  const countNextCalls = (...calls: readonly AdviceMark['nextCall'][]): number =>
    marks.filter(({ nextCall }) => calls.includes(nextCall)).length;
  const parts = [
    [countNextCalls('repeated'), 'made the same call again'],
    [countNextCalls('same-failure'), 'failed in the same way'],
    [countNextCalls('other-failure'), 'failed in another way'],
    [countNextCalls('succeeded'), 'made another call, which succeeded'],
    [countNextCalls('none', 'open'), 'made no further call'],
  ] as const;
  const resolvedCount = marks.filter(({ isLeft }) => isLeft).length;
  const sentences = parts
    .filter(([times]) => times > 0)
    .map(([times, what]) => (times === marks.length ? `it ${what}` : `${countText(times)}× it ${what}`));
  const cleared =
    marks.length === 1
      ? `was ${resolvedCount === 1 ? '' : 'not '}cleared`
      : `was cleared after ${countText(resolvedCount)} of ${countText(marks.length)}`;
  return `${isSilent ? 'Without it' : 'Next'}, ${sentences.join(', ')}. The pattern ${cleared}.`;
}
