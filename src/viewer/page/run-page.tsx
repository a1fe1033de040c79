import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import { safeText } from '../../core/base/printable.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { LastAnswer, ListedRow, RunAnswer, RunRow } from '../server/api-shapes.ts';
import { findWords } from '../server/run-query.ts';
import { AdviceCard, PatternCard, type CardProps } from './advice-card.tsx';
import { findInRun, getLabels, getRun, getRuns, type RunAddress, type RunFilters } from './api.ts';
import { ChildRunsContext } from './call-view.tsx';
import { ConversationView, type ConversationHandle } from './conversation.tsx';
import { RunTitle } from './run-title.tsx';
import { FoldedTextContext } from './folded-text.tsx';
import { Markdown } from './markdown.tsx';
import { ErrorBanner, ErrorNotice, Notice, RunDamage } from './notice.tsx';
import { noteOpened } from './opened-runs.ts';
import { Outline, type Noticed } from './outline.tsx';
import type { RecordPages } from './record-pages.ts';
import type { Route } from './route.ts';
import type { Rows } from './rows.ts';
import { choiceFor } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { SearchBox } from './search-box.tsx';
import { sharedRun } from './shared-runs.ts';
import { StatePanel } from './state-panel.tsx';
import { Strip } from './strip.tsx';
import { useLabels, LABEL_WORDS, type Labels } from './use-labels.ts';
import { asError } from './use-loaded.ts';
import { goTo } from './use-route.ts';
import { useRunKeys } from './use-run-keys.ts';
import { useRunModel, type RunModel } from './use-run-model.ts';
import type { LabelTarget } from '../../lab/labels.ts';
import { present } from '../../core/base/json.ts';
import { runStory, type StoryPiece } from '../../core/facts/run-story.ts';

type RunRoute = Extract<Route, { page: 'run' }>;

export function RunPageView({ route }: { readonly route: RunRoute }): ReactElement {
  const model = useRunModel(route.run, route.at ?? 0);
  useEffect(() => {
    scrollTo(0, 0);
  }, []);
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
  const { rows } = model;
  const { run, overview } = answer;
  const isLive = run.live && sharedRun === undefined;
  const [noticed, setNoticed] = useState<Noticed>();
  const [toast, say] = useToast();
  const handle = useRef<ConversationHandle>(null);
  const isPlaced = route.at !== undefined || route.call !== undefined;
  const following = useFollowing(isLive && !isPlaced, rows.list.length);
  const { pause } = following;
  const selected = route.at ?? (route.call === undefined ? undefined : rows.seqOf(route.call));
  useEffect(() => noteOpened(route.run), [route.run]);
  useEffect(() => {
    document.title = `${safeLine(run.title).slice(0, 60)} · coxswain`;
  }, [run.title]);
  const words = useMemo(() => findWords(route.find ?? ''), [route.find]);

  const latest = useRef({ route, rows });
  latest.current = { route, rows };
  const onSelect = useCallback(
    (at: number) => goTo({ ...withoutPlace(latest.current.route), at }, { replace: true }),
    [],
  );
  const showRecord = useCallback(
    (seq: number) => {
      pause();
      const row = latest.current.rows.rowOf(seq)?.seq ?? seq;
      onSelect(row);
      // The chosen row may be part of a fold, which opens first.
      requestAnimationFrame(() => handle.current?.show(row));
    },
    [onSelect, pause],
  );
  useShownPlace(rows, selected, handle, onSelect);

  const onFound = (seq: number | null | undefined, what: string, direction: 1 | -1): void => {
    if (seq === null || seq === undefined) say(`No ${direction === 1 ? 'more' : 'earlier'} ${what}.`);
    else showRecord(seq);
  };
  const from = (): number => selected ?? (handle.current?.firstSeq() ?? 0) - 1;
  const findText = async (q: string, direction: 1 | -1): Promise<void> => {
    try {
      const current = rows.rowOf(from());
      let start = selected === undefined ? from() + 1 : direction === 1 ? (current?.end ?? selected) + 1 : selected - 1;
      let seq: number | null = null;
      while (start >= 0) {
        seq = await findInRun(route.run, { q, from: start, direction: direction === 1 ? 'next' : 'prev' });
        if (seq === null) break;
        await pages.ensure(seq);
        if (isShown(pages.at(seq), findWords(q))) break;
        start = seq + direction;
      }
      onFound(seq, 'places with these words', direction);
      // A truncated value may contain the words.
      if (seq !== null && isTruncated(pages.at(seq))) await model.fetchWhole(seq);
    } catch (error) {
      say(asError(error).message);
    }
  };
  const findRow = (what: string, direction: 1 | -1, isWanted: (row: RunRow) => boolean): void =>
    onFound(rows.find(from(), direction, isWanted)?.seq, what, direction);
  const findMark = (what: string, direction: 1 | -1, seqs: readonly number[]): void => {
    const marks = new Set(seqs.map((seq) => rows.rowOf(seq)?.seq));
    findRow(what, direction, ({ seq }) => marks.has(seq));
  };

  const { label } = route;
  const onLabelled = useCallback(() => {
    if (label !== undefined) goToNextFlag(route.run, label, say).catch((error: unknown) => say(asError(error).message));
  }, [label, route.run, say]);
  const onUndone = useCallback(() => {
    if (label !== undefined) history.back();
  }, [label]);
  const isUnchosen = useRef(label !== undefined && !isPlaced);
  useEffect(() => {
    if (isUnchosen.current) onLabelled();
    isUnchosen.current = false;
  }, [onLabelled]);
  const labels = useLabels(
    route.run,
    { rows, selected, call: route.at === undefined ? route.call : undefined },
    { say, onLabelled, onUndone },
  );
  useRunKeys({
    step: (direction) => onFound(handle.current?.nextSeq(selected, direction), 'rows', direction),
    find: (kind, direction) => {
      if (kind === 'error') findRow('errors', direction, ({ failed }) => failed === true);
      else if (kind === 'advice') {
        const seqs = overview.advice.map(({ seq }) => seq);
        findMark('advice', direction, seqs);
      } else if (kind === 'pattern') {
        const seqs = overview.patterns.map(({ flaggedSeq, fromSeq }) => flaggedSeq ?? fromSeq);
        findMark('patterns', direction, seqs);
      } else if (route.find === undefined) focusFind();
      else void findText(route.find, direction);
    },
    call: (direction) => findRow('calls', direction, ({ call }) => call !== undefined),
    toStart: () => {
      pause();
      scrollTo(0, 0);
    },
    toEnd: () => handle.current?.showEnd(),
    follow: following.toggle,
    search: focusFind,
    compare: () => (answer.isAlone === true ? say('There is no other run.') : goTo(choiceFor(run))),
    label: sharedRun === undefined ? labels.setLabel : () => {},
    undo: sharedRun === undefined ? labels.undo : () => {},
    leave: () => {
      setNoticed(undefined);
      goTo(withoutPlace(route), { replace: true });
    },
    unfold: () => {
      const row = document.querySelector<HTMLElement>('.row.is-selected');
      row?.querySelector<HTMLElement>('.fold button, summary, .toggle')?.click();
    },
  });
  const surroundings = useMemo(
    () => ({ words, unfolded: new Set<string>(), fetchWhole: model.fetchWhole }),
    [words, model.fetchWhole],
  );
  const children = useMemo(() => ({ runs: answer.children, view: viewChildRun }), [answer.children]);
  const onNoticed = (next: Noticed): void => {
    setNoticed(next);
    if ('mark' in next) showRecord(next.mark.seq);
    else if ('span' in next) showRecord(next.span.flaggedSeq ?? next.span.fromSeq);
  };
  return (
    <div className={noticed === undefined ? 'run' : 'run has-side'}>
      <div className="run-top">
        <RunTitle answer={answer} label={labels.summary}>
          <SearchBox
            label="Find in this run"
            placeholder="Find in this run  /"
            words={route.find}
            onWords={(q, direction) => {
              goTo({ ...route, find: q }, { replace: true });
              if (q !== '') void findText(q, direction);
            }}
          />
        </RunTitle>
        {model.trouble === undefined ? null : <ErrorBanner error={model.trouble} onRetry={model.reload} />}
        <RunDamage run={run} pages={pages} />
        {overview.complete ? null : (
          <div className="banner" role="status">
            {overview.nextSeq <= run.lastSeq
              ? `Reading the run: ${countText(overview.nextSeq)}`
              : `Looking for patterns, advice, files and checks: ${countText(overview.checkedSeq)}`}{' '}
            of {countText(run.lastSeq + 1)} records…
          </div>
        )}
      </div>
      <Strip overview={overview} selected={selected} onGo={showRecord} />
      <Outline answer={answer} rows={rows} onGo={showRecord} onNoticed={onNoticed} />
      <div className="talk">
        {overview.lastAnswer === undefined ? null : <LastAnswerView answer={overview.lastAnswer} onGo={showRecord} />}
        <RunStory answer={answer} onGo={showRecord} />
        <h2 className="visually-hidden">Conversation</h2>
        <ChildRunsContext value={children}>
          <FoldedTextContext value={surroundings}>
            <ConversationView
              rows={rows}
              pages={pages}
              overview={overview}
              selected={selected}
              labels={labels.marks}
              handle={handle}
              isFollowing={following.isFollowing}
              onSelect={onSelect}
              onLeftEnd={pause}
            />
          </FoldedTextContext>
        </ChildRunsContext>
        <div className="run-foot">
          {isLive ? <LiveButton following={following} /> : null}
          {label === undefined ? null : <LabelBar labels={labels} />}
        </div>
      </div>
      {noticed === undefined ? null : (
        <SidePanel
          answer={answer}
          labels={labels}
          onGo={showRecord}
          noticed={noticed}
          rows={rows}
          selected={selected}
          onClose={() => setNoticed(undefined)}
        />
      )}
      {toast === undefined ? null : (
        <div className="toast" role="status">
          {toast}
        </div>
      )}
    </div>
  );
}

function withoutPlace({ at: _at, call: _call, ...rest }: RunRoute): RunRoute {
  return rest;
}

/** Opens the next flag without a label: in this run, else in the first run of the list that has one, else the list. */
async function goToNextFlag(run: RunAddress, filters: RunFilters, say: (text: string) => void): Promise<void> {
  const labelled = new Set((await getLabels()).labels.map(({ id }) => id));
  const openCallOf = ({ patternCalls = [], runId }: ListedRow): number | undefined =>
    patternCalls.find((call) => !labelled.has(`${runId}@${call}`));
  const goToFlagOf = (row: ListedRow): boolean => {
    const call = openCallOf(row);
    if (call === undefined) return false;
    goTo({ page: 'run', run: { source: row.source, runId: row.runId }, call, label: filters });
    return true;
  };
  if (goToFlagOf((await getRun(run)).run) || (await getRuns(filters, undefined)).runs.some(goToFlagOf)) return;
  say('No further flag without a label in this list.');
  goTo({ page: 'runs', filters });
}

/** Scrolls to the row in the address when it is known, and when the address changes by a step to the next flag or the Back button. */
function useShownPlace(
  rows: Rows,
  selected: number | undefined,
  handle: { readonly current: ConversationHandle | null },
  onSelect: (seq: number) => void,
): void {
  const shown = useRef<number | undefined>(undefined);
  const isKnown = selected !== undefined && rows.lastSeq >= selected;
  useEffect(() => {
    if (selected === undefined || !isKnown || shown.current === selected) return;
    shown.current = selected;
    const row = rows.rowOf(selected)?.seq ?? selected;
    if (row !== selected) onSelect(row);
    requestAnimationFrame(() => handle.current?.show(row));
  }, [selected, isKnown, rows, handle, onSelect]);
}

function SidePanel(
  props: CardProps & {
    readonly noticed: Noticed;
    readonly rows: Rows;
    readonly selected: number | undefined;
    readonly onClose: () => void;
  },
): ReactElement {
  const { answer, noticed, onClose, onGo, rows, selected } = props;
  return (
    <aside className="side" aria-label="What coxswain noticed and said" tabIndex={0}>
      <button type="button" className="quiet" onClick={onClose}>
        Close <kbd>Esc</kbd>
      </button>
      {'mark' in noticed ? <AdviceCard {...props} mark={noticed.mark} /> : null}
      {'span' in noticed ? <PatternCard {...props} span={noticed.span} /> : null}
      {sharedRun === undefined ? (
        <StatePanel run={answer.run} rows={rows} calls={answer.run.calls} selected={selected} onGo={onGo} />
      ) : null}
    </aside>
  );
}

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

interface Following {
  readonly isFollowing: boolean;
  readonly waiting: number;
  readonly toggle: () => void;
  readonly pause: () => void;
}

function useFollowing(startsAtEnd: boolean, count: number): Following {
  const [isFollowing, setFollowing] = useState(startsAtEnd);
  const [heldCount, setHeldCount] = useState<number>();
  const latest = useRef({ count, isFollowing });
  latest.current = { count, isFollowing };
  const pause = useCallback(() => {
    if (!latest.current.isFollowing) return;
    setHeldCount(latest.current.count);
    setFollowing(false);
  }, []);
  const follow = useCallback(() => setFollowing(true), []);
  const waiting = isFollowing || heldCount === undefined ? 0 : Math.max(0, count - heldCount);
  return { isFollowing, waiting, toggle: isFollowing ? pause : follow, pause };
}

function LiveButton({ following }: { readonly following: Following }): ReactElement {
  const { isFollowing, toggle, waiting } = following;
  return (
    <button
      type="button"
      className={isFollowing ? 'live-button' : 'live-button primary'}
      onClick={toggle}
      aria-live="polite"
    >
      {isFollowing ? 'Following · pause' : `Paused · ${countText(waiting)} new · follow`} <kbd>f</kbd>
    </button>
  );
}

/** Returns false if the words occur only in the calls of a message, which have rows of their own. */
function isShown(record: TrajectoryRecord | undefined, words: readonly string[]): boolean {
  const payload = record?.payload;
  const message = payload?.kind === 'message_appended' ? payload.message : undefined;
  if (message?.role !== 'assistant' || !Array.isArray(message.content)) return true;
  const text = JSON.stringify(message.content.filter(({ type }) => type !== 'tool_call')).toLowerCase();
  return words.some((word) => text.includes(word));
}

function isTruncated(record: TrajectoryRecord | undefined): boolean {
  return record !== undefined && JSON.stringify(record.payload).includes('"$cut"');
}

function focusFind(): void {
  document.querySelector<HTMLInputElement>('.actions input[type=search]')?.focus();
}

function useToast(): readonly [string | undefined, (text: string) => void] {
  const [text, setText] = useState<string | undefined>();
  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(() => setText(undefined), 2_500);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}

function viewChildRun(run: ListedRow): ReactElement {
  return <ChildConversation run={run} />;
}

/** The conversation of a child run, below the call that started it. A chosen row opens on the page of the child run. */
function ChildConversation({ run: { live, runId, source } }: { readonly run: ListedRow }): ReactElement {
  const { answer, error, fetchWhole, pages, reload, rows } = useRunModel({ source, runId }, 0, live);
  const onSelect = useCallback((at: number) => goTo({ page: 'run', run: { source, runId }, at }), [source, runId]);
  const surroundings = useMemo(() => ({ words: [], unfolded: new Set<string>(), fetchWhole }), [fetchWhole]);
  const children = useMemo(() => ({ runs: answer?.children ?? [], view: viewChildRun }), [answer]);
  if (error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (answer === undefined || pages === undefined) return <Notice title="Loading the run…" />;
  return (
    <ChildRunsContext value={children}>
      <FoldedTextContext value={surroundings}>
        <ConversationView rows={rows} pages={pages} overview={answer.overview} onSelect={onSelect} />
      </FoldedTextContext>
    </ChildRunsContext>
  );
}

const BUTTONS: readonly (readonly [LabelTarget, string])[] = [
  ['stuck', 'y'],
  ['ok', 'n'],
  ['skip', 's'],
];

function LabelBar({ labels }: { readonly labels: Labels }): ReactElement {
  const { call, target } = labels;
  return (
    <div className="label-bar" role="group" aria-label="Label">
      <span>{call === undefined ? 'The run is' : `At call ${call} the agent is`}</span>
      {BUTTONS.map(([name, key]) => (
        <button key={name} type="button" aria-pressed={target === name} onClick={() => labels.setLabel(name)}>
          {LABEL_WORDS[name]} <kbd>{key}</kbd>
        </button>
      ))}
      {target === undefined ? null : (
        <button type="button" onClick={() => labels.setLabel(null)}>
          remove <kbd>u</kbd>
        </button>
      )}
      <input
        aria-label="Note"
        placeholder="note"
        maxLength={2_000}
        value={labels.note}
        onChange={(event) => labels.setNote(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          if (target !== undefined) labels.setLabel(target);
          event.currentTarget.blur();
        }}
      />
      <a href="/api/labels.csv" download="labels.csv" title={labels.file}>
        labels.csv
      </a>
    </div>
  );
}

function RunStory(props: { readonly answer: RunAnswer; readonly onGo: (seq: number) => void }): ReactElement | null {
  const { overview, run } = props.answer;
  const sentences = runStory({ ...overview, calls: run.calls, ...present({ errorLine: run.errorLine }) });
  if (sentences.length === 0) return null;
  return (
    <dl className="story" aria-label="What was found in the run">
      {sentences.map(({ mark, name, pieces }) => (
        <div key={name} className={mark}>
          <dt>{name}</dt>
          <dd>
            {pieces.map((piece, at) => (
              // The pieces of a sentence have a fixed order.
              <Piece key={at} piece={piece} onGo={props.onGo} />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Piece(props: { readonly piece: StoryPiece; readonly onGo: (seq: number) => void }): ReactElement {
  const { seq, style, text } = props.piece;
  if (seq !== undefined) {
    return (
      <button type="button" className="link" onClick={() => props.onGo(seq)}>
        {text}
      </button>
    );
  }
  if (style === 'code') return <code>{safeLine(text)}</code>;
  return style === 'strong' ? <b>{safeLine(text)}</b> : <>{text}</>;
}
