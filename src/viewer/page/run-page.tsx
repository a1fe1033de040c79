import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';

import { present } from '../../core/base/present.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { safeText } from '../../core/base/shown-text.ts';
import type { LastAnswer, RunAnswer } from '../server/api-shapes.ts';
import { findWords } from '../server/find-words.ts';
import { AdviceLane } from './advice-lane.tsx';
import { findInRun, getCall } from './api.ts';
import { ChildRunsContext } from './child-runs.ts';
import { ConversationView, type ConversationHandle } from './conversation.tsx';
import { CopyButtons } from './copy-buttons.tsx';
import { FindBox } from './find-box.tsx';
import { FoldedTextContext } from './folded-text.tsx';
import { LabelBar } from './label-bar.tsx';
import { Markdown } from './markdown.tsx';
import { LiveBar } from './live-bar.tsx';
import { ErrorBanner, ErrorNotice, Notice } from './notice.tsx';
import { countText } from '../../core/base/number-text.ts';
import type { RecordPages } from './record-pages.ts';
import { goToNext, progressText } from './review.ts';
import { noteOpened } from './opened-runs.ts';
import { endOfRow, isSaidAt, nextRow, recordRowOf } from './record-row.ts';
import { runKey, type Route } from './route.ts';
import { runRouteOf } from './run-list-row.tsx';
import { RunDamage } from './run-damage.tsx';
import { RunStory } from './run-story.tsx';
import { RunTitle } from './run-title.tsx';
import { Strip } from './strip.tsx';
import { useCalls } from './use-calls.ts';
import { asError } from './use-loaded.ts';
import { useFollowing } from './use-following.ts';
import { useLabels } from './use-labels.ts';
import { goTo } from './use-route.ts';
import { useRunKeys } from './use-run-keys.ts';
import { placeInList } from './use-run-list.ts';
import { useRunModel, type RunModel } from './use-run-model.ts';
import { VisibleRange } from './visible-range.ts';

type RunRoute = Extract<Route, { page: 'run' }>;

/** Shows one run: its timeline, its conversation, its patterns and its advice. */
export function RunPageView({ route }: { readonly route: RunRoute }): ReactElement {
  const model = useRunModel(route.run, route.at ?? 0);
  if (model.error !== undefined) return <ErrorNotice error={model.error} onRetry={model.reload} />;
  if (model.answer === undefined || model.pages === undefined) return <Notice title="Loading the run…" />;
  return <LoadedRun route={route} model={model} answer={model.answer} pages={model.pages} />;
}

function LoadedRun(props: {
  readonly route: RunRoute;
  readonly model: RunModel;
  readonly answer: RunAnswer;
  readonly pages: RecordPages;
}): ReactElement {
  const { route, model, answer, pages } = props;
  const { run, overview } = answer;
  const withDetails = route.details === true;
  const [range] = useState(() => new VisibleRange());
  const [evidence, setEvidence] = useState<ReadonlySet<number>>(new Set());
  const [toast, say] = useToast();
  const handle = useRef<ConversationHandle | undefined>(undefined);
  const live = useFollowing({ isLive: run.live && route.at === undefined, lastSeq: model.lastSeq, pages, handle });
  const selected = route.at;
  useEffect(() => noteOpened(route.run), [route.run]);
  const words = useMemo(() => findWords(route.find ?? ''), [route.find]);

  const changeRoute = useCallback(
    (change: Partial<RunRoute>) => {
      const { at: _at, ...rest } = route;
      goTo({ ...rest, ...present({ at: route.at }), ...change }, { replace: true });
    },
    [route],
  );
  const select = useCallback((seq: number) => changeRoute({ at: seq }), [changeRoute]);
  const latestSelect = useRef(select);
  latestSelect.current = select;
  const onSelect = useCallback((seq: number) => latestSelect.current(seq), []);
  const { pause } = live;
  const showRecord = useCallback(
    async (seq: number) => {
      try {
        pause();
        const row = (await recordRowOf(seq, pages, withDetails)) ?? seq;
        latestSelect.current(row);
        handle.current?.show(row);
      } catch (error) {
        say(asError(error).message);
      }
    },
    [pages, withDetails, say, pause],
  );
  // On load, this effect shows the row in the address. Later changes of the address scroll on their own.
  const isShown = useRef(false);
  useEffect(() => {
    if (isShown.current) return;
    isShown.current = true;
    if (selected !== undefined) {
      handle.current?.show(selected, true);
      void showRecord(selected);
    } else if (run.live) handle.current?.showEnd();
  }, [selected, run.live, showRecord]);

  // Scrolls to another record of the same run after a step of a review or the Back button.
  useEffect(() => {
    const { from, to } = range.get();
    if (selected !== undefined && (selected < from || selected >= to)) handle.current?.show(selected);
  }, [selected, range]);

  const current = selected ?? range.get().from;
  const findRow = async (search: RunSearch): Promise<number | null> => {
    const { kind, direction, q } = search;
    const from =
      selected === undefined ? current : (direction === 1 ? endOfRow(selected, pages) : selected) + direction;
    for (let fromSeq = from; fromSeq >= 0 && fromSeq <= pages.lastSeq;) {
      const query = { kind, from: fromSeq, direction: direction === 1 ? 'next' : 'prev' } as const;
      const seq = await findInRun(route.run, q === undefined ? query : { ...query, q });
      if (seq === null || q === undefined || (await isSaidAt(seq, pages, findWords(q)))) return seq;
      fromSeq = seq + direction;
    }
    return null;
  };
  const showMatch = async (search: RunSearch): Promise<void> => {
    try {
      const seq = await findRow(search);
      if (seq === null) say(`No ${search.direction === 1 ? 'more' : 'earlier'} ${SEARCH_WORDS[search.kind]}.`);
      else await showRecord(seq);
      // A truncated value may contain the words.
      if (seq !== null && search.kind === 'text' && isTruncated(pages.at(seq))) await model.fetchWhole(seq);
    } catch (error) {
      say(asError(error).message);
    }
  };
  /** Goes to the call next to the chosen one, or next to the view if none is chosen. */
  const goToCall = async (direction: 1 | -1): Promise<void> => {
    const place = await getCall(route.run, { seq: current });
    const nextCall = await getCall(route.run, { call: Math.max(1, (place?.call ?? 0) + direction) });
    if (nextCall === null) say('No more calls.');
    else await showRecord(nextCall.seq);
  };
  const { review } = route;
  const onLabelled = useCallback(() => {
    if (review === undefined) return;
    goToNext(review).catch((error: unknown) => say(asError(error).message));
  }, [review, say]);
  const onUndone = useCallback(() => {
    if (review !== undefined) history.back();
  }, [review]);
  const labels = useLabels(route.run, selected, { say, onLabelled, onUndone });
  const calls = useCalls(route.run, overview.nextSeq);
  useRunKeys({
    step: (direction) => {
      const from = selected === undefined ? range.get().from : selected + direction;
      nextRow(from, pages, { direction, withDetails }).then(
        (seq) => (seq === null ? say('No more rows.') : void showRecord(seq)),
        (error: unknown) => say(asError(error).message),
      );
    },
    find: (kind, direction) => {
      if (kind !== 'text') void showMatch({ kind, direction });
      else if (route.find === undefined) focusFind();
      else void showMatch({ kind, direction, q: route.find });
    },
    call: (direction) => void goToCall(direction),
    toStart: () => void showRecord(0),
    toEnd: () => handle.current?.showEnd(),
    follow: live.toggle,
    details: () => goTo(withDetails ? withoutDetails(route) : { ...route, details: true }, { replace: true }),
    search: focusFind,
    compare: () => goTo({ page: 'compare', a: runKey(route.run) }),
    label: labels.setLabel,
    undo: labels.undo,
    neighbour: (direction) => {
      const place = placeInList(route.run);
      const row = direction === 1 ? place?.next : place?.before;
      if (place === undefined || row === undefined)
        say(direction === 1 ? 'No next run in the list.' : 'No previous run in the list.');
      else goTo(runRouteOf(row, place.filters));
    },
    leave: () => goTo(withoutPlace(route), { replace: true }),
    unfold: () => {
      const row = document.querySelector<HTMLElement>('.row.is-selected');
      row?.querySelector<HTMLElement>('.fold button, summary')?.click();
    },
  });
  const surroundings = useMemo(
    () => ({ words, unfolded: new Set<string>(), fetchWhole: model.fetchWhole }),
    [words, model.fetchWhole],
  );
  const onGo = useCallback((seq: number) => void showRecord(seq), [showRecord]);
  const onEvidence = useCallback((seqs: readonly number[]) => setEvidence(new Set(seqs)), []);
  return (
    <div className="run">
      <div>
        <RunTitle answer={answer} label={labels.summary}>
          <CopyButtons selected={selected} pages={pages} answer={answer} say={say} />
          <FindBox
            find={route.find}
            onFind={(q, direction) => {
              changeRoute({ find: q });
              if (q !== '') void showMatch({ kind: 'text', direction, q });
            }}
          />
          <button
            type="button"
            aria-pressed={withDetails}
            onClick={() => goTo(withDetails ? withoutDetails(route) : { ...route, details: true }, { replace: true })}
          >
            Bookkeeping
          </button>
        </RunTitle>
        {model.trouble === undefined ? null : <ErrorBanner error={model.trouble} onRetry={model.reload} />}
        <RunDamage run={run} pages={pages} />
        {overview.complete ? null : (
          <div className="banner" role="status">
            Reading the run for its timeline: {countText(overview.nextSeq)} of {countText(run.lastSeq + 1)} records…
          </div>
        )}
      </div>
      <Strip overview={overview} selected={selected} onGo={onGo} />
      <div className="findings">
        {overview.lastAnswer === undefined ? null : <LastAnswerView answer={overview.lastAnswer} onGo={onGo} />}
        <RunStory answer={answer} onGo={onGo} />
      </div>
      <div className="below">
        <div className="talk">
          <h2 className="visually-hidden">Conversation</h2>
          <LabelBar labels={labels} progress={review === undefined ? undefined : progressText()} />
          <ChildRunsContext value={answer.children}>
            <FoldedTextContext value={surroundings}>
              <ConversationView
                pages={pages}
                count={live.shownLast + 1}
                withDetails={withDetails}
                selected={selected}
                patterns={overview.patterns}
                advice={overview.advice}
                evidence={evidence}
                calls={calls}
                labels={labels.marks}
                range={range}
                handle={handle}
                onSelect={onSelect}
                onAtEnd={live.onAtEnd}
              />
            </FoldedTextContext>
          </ChildRunsContext>
          <LiveBar isOpen={run.live} following={live} />
        </div>
        <AdviceLane
          answer={answer}
          range={range}
          selected={selected}
          labels={labels}
          onGo={onGo}
          onEvidence={onEvidence}
        />
      </div>
      {toast === undefined ? null : (
        <div className="toast" role="status">
          {toast}
        </div>
      )}
    </div>
  );
}

/** The last answer of the agent in full. */
function LastAnswerView(props: { readonly answer: LastAnswer; readonly onGo: (seq: number) => void }): ReactElement {
  const { seq, text } = props.answer;
  return (
    <section className="last-answer" aria-label="Last answer">
      <button type="button" className="link" onClick={() => props.onGo(seq)}>
        Last answer
      </button>
      <Markdown text={safeText(text)} />
    </section>
  );
}

/** A search request in the run. */
interface RunSearch {
  readonly kind: keyof typeof SEARCH_WORDS;
  readonly direction: 1 | -1;
  /** The search words if `kind` is `text`. */
  readonly q?: string;
}

/** Returns true if a value of the record was truncated. */
function isTruncated(record: TrajectoryRecord | undefined): boolean {
  return record !== undefined && JSON.stringify(record.payload).includes('"$cut"');
}

const SEARCH_WORDS = {
  error: 'errors',
  pattern: 'patterns',
  advice: 'advice',
  text: 'places with these words',
} as const;

function withoutDetails(route: RunRoute): RunRoute {
  const { details: _details, ...rest } = route;
  return rest;
}

function withoutPlace(route: RunRoute): RunRoute {
  const { at: _at, ...rest } = route;
  return rest;
}

function focusFind(): void {
  document.querySelector<HTMLInputElement>('.actions input[type=search]')?.focus();
}

/** Shows a text that disappears after a while. */
function useToast(): readonly [string | undefined, (text: string) => void] {
  const [text, setText] = useState<string | undefined>();
  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(() => setText(undefined), 2_500);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
