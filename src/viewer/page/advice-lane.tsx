import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, useSyncExternalStore, type ReactElement } from 'react';

import { timesSeen } from '../../core/facts/seen-pattern.ts';
import type { PatternSpan, RunAnswer } from '../server/api-shapes.ts';
import { AdviceCard, Evidence, markHandlers, type CardProps } from './advice-card.tsx';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { countOf, countText } from '../../core/base/number-text.ts';
import { patternName } from './pattern-name.ts';
import { runKey } from './route.ts';
import { StatePanel } from './state-panel.tsx';
import { stateOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import type { VisibleRange } from './visible-range.ts';

interface LaneProps extends CardProps {
  readonly range: VisibleRange;
  readonly selected: number | undefined;
}

const TABS = ['advice', 'patterns', 'state', 'family'] as const;
type Tab = (typeof TABS)[number];

/** The panel next to the conversation. It shows advice, patterns, the state of the run, and related runs. */
export function AdviceLane(props: LaneProps): ReactElement {
  const { overview, children, parent } = props.answer;
  const [chosenTab, setTab] = useState<Tab>();
  const tab = chosenTab ?? (overview.advice.length === 0 && overview.patterns.length > 0 ? 'patterns' : 'advice');
  const names: Readonly<Record<Tab, string>> = {
    advice: `Advice ${countText(overview.advice.length)}`,
    patterns: `Patterns ${countText(overview.patterns.length)}`,
    state: 'State',
    family: `Runs ${countText(children.length + (parent === undefined ? 0 : 1))}`,
  };
  const shownTabs = TABS.filter((name) => name !== 'family' || children.length > 0 || parent !== undefined);
  return (
    <aside className="lane" aria-label="What coxswain noticed and said">
      <div className="lane-tabs" role="tablist">
        {shownTabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="lane-panel"
            onClick={() => setTab(name)}
          >
            {names[name]}
          </button>
        ))}
      </div>
      {tab === 'advice' ? (
        <Cards
          key="advice"
          {...props}
          tab={tab}
          places={overview.advice.map((mark) => mark.seq)}
          empty="The agent got no advice in this run."
          leftOut={overview.adviceLeftOut}
          card={(at) => {
            const mark = overview.advice[at];
            return mark === undefined ? null : <AdviceCard mark={mark} {...props} />;
          }}
        />
      ) : null}
      {tab === 'patterns' ? (
        <Cards
          key="patterns"
          {...props}
          tab={tab}
          places={overview.patterns.map(({ flaggedSeq, fromSeq }) => flaggedSeq ?? fromSeq)}
          empty="No pattern was flagged in this run."
          leftOut={overview.patternsLeftOut}
          card={(at) => {
            const span = overview.patterns[at];
            return span === undefined ? null : <PatternCard span={span} {...props} />;
          }}
        />
      ) : null}
      {tab === 'state' ? (
        <StatePanel run={props.answer.run} calls={props.answer.run.calls} selected={props.selected} onGo={props.onGo} />
      ) : null}
      {tab === 'family' ? <Family answer={props.answer} /> : null}
    </aside>
  );
}

function Cards(
  props: LaneProps & {
    readonly tab: Tab;
    readonly places: readonly number[];
    readonly empty: string;
    readonly leftOut: number;
    readonly card: (at: number) => ReactElement | null;
  },
): ReactElement {
  const { places, range, selected } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: places.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 190,
    overscan: 3,
  });
  const nearestIndex = useSyncExternalStore(range.subscribe, () => nearestIndexOf(places, selected, range.get()));
  useEffect(() => {
    const { current } = scroller;
    // Cards under the pointer must not move.
    if (nearestIndex < 0 || current === null || current.matches(':hover')) return;
    const item = virtual.getVirtualItems().find(({ index }) => index === nearestIndex);
    const bottom = current.scrollTop + current.clientHeight;
    if (item !== undefined && item.start >= current.scrollTop && item.end <= bottom) return;
    virtual.scrollToIndex(nearestIndex, { align: 'start' });
  }, [nearestIndex, virtual]);
  return (
    <div
      ref={scroller}
      className="lane-scroll"
      role="tabpanel"
      id="lane-panel"
      aria-labelledby={`tab-${props.tab}`}
      tabIndex={0}
    >
      {places.length === 0 ? <p className="card dim">{props.empty}</p> : null}
      {props.leftOut > 0 ? <p className="card dim">{countText(props.leftOut)} more are not listed.</p> : null}
      <div style={{ position: 'relative', height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => (
          <div
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            className={item.index === nearestIndex ? 'near' : undefined}
            style={{ position: 'absolute', inset: '0 0 auto', transform: `translateY(${item.start}px)` }}
          >
            {props.card(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/**
 * Returns the index of the selected position. Without one, it returns the first position in the view, or else the last position above the
 * view. It returns -1 if all positions are below the view.
 */
function nearestIndexOf(
  places: readonly number[],
  selected: number | undefined,
  view: { from: number; to: number },
): number {
  const chosenIndex = selected === undefined ? -1 : places.indexOf(selected);
  if (chosenIndex >= 0) return chosenIndex;
  const visibleIndex = places.findIndex((seq) => seq >= view.from && seq < view.to);
  return visibleIndex >= 0 ? visibleIndex : places.findLastIndex((seq) => seq < view.to);
}

function PatternCard(props: CardProps & { readonly span: PatternSpan }): ReactElement {
  const { answer, span, onGo, onEvidence } = props;
  const seqs = span.evidence.map(({ seq }) => seq);
  return (
    <article className="card pattern" {...markHandlers(seqs, onEvidence)}>
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

function Family({ answer }: { readonly answer: RunAnswer }): ReactElement {
  const { parent, children } = answer;
  return (
    <div className="lane-scroll" role="tabpanel" id="lane-panel" aria-labelledby="tab-family" tabIndex={0}>
      {[...(parent === undefined ? [] : [parent]), ...children].map((run) => (
        <article key={runKey(run)} className="card">
          <div className="card-head">
            <span className={`tag ${stateOf(run).className}`}>{stateOf(run).text}</span>
            <h3>
              <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>{safeLine(run.title)}</Link>
            </h3>
            <span className="tag">{run === parent ? 'parent' : 'child'}</span>
          </div>
          <p className="dim">
            {countOf(run.calls, 'call')}, {countOf(run.errors, 'error')}
          </p>
        </article>
      ))}
    </div>
  );
}
