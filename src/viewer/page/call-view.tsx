import { isJsonObject } from '../../core/base/json.ts';
import { createContext, useContext, useState, type ReactElement } from 'react';

import {
  outcomeOf,
  type ToolEnded,
  type ToolStarted,
  type TrajectoryRecord,
} from '../../core/records/trajectory-record.ts';
import type { ToolKind } from '../../core/detect/calls/tool-kind.ts';
import { countOf, countText, usdText } from '../../core/base/number-text.ts';
import { safeText } from '../../core/base/printable.ts';
import type { ListedRow, RunRow } from '../server/api-shapes.ts';
import { editOf, type EditDiff } from './edit-diff.ts';
import { languageOf } from './code-text.tsx';
import { FoldedText, FoldedTextContext } from './folded-text.tsx';
import { Link } from './link.tsx';
import { stateOf } from './run-list-row.tsx';
import { spanText } from './number-text.ts';
import { Picture } from './picture.tsx';
import { safeLine } from './safe-text.ts';
import { headlineOf, isCut, shownResult, textOf } from './text-of.ts';

const MAX_NAME = 120;
const MAX_FIELDS = 40;
const DIFF_LINES = 16;

export interface CallProps {
  readonly record: TrajectoryRecord;
  readonly call: ToolStarted;
  readonly end: TrajectoryRecord | undefined;
  readonly row: RunRow;
  readonly isOpen: boolean;
  readonly onToggle: (seq: number, isOpen: boolean) => void;
}

export function CallView(props: CallProps): ReactElement {
  const { call, end, isOpen, record, row } = props;
  const result = end?.payload.kind === 'tool_ended' ? end.payload : undefined;
  const { headline, isWhole, shownName } = headlineOf(call.args);
  const list = listOf(call.args);
  // An edit shows what it changed. Its result says little, unless it failed.
  const edit = isOpen && isJsonObject(call.args) ? editOf(call.args) : undefined;
  const isEdit = row.tool === 'write' && row.failed !== true && edit !== undefined;
  return (
    <div className={isOpen ? 'box' : 'box is-line'}>
      <CallHead
        name={call.tool_name}
        kind={row.tool ?? 'unknown'}
        args={list === undefined ? headline : ''}
        tail={tailOf(record, end, result)}
        same={row.same}
        isOpen={isOpen}
        onToggle={() => props.onToggle(record.seq, !isOpen)}
      />
      {list === undefined ? null : <Steps steps={list} />}
      <ChildRun call={call} />
      {!isOpen || isWhole || list !== undefined ? null : (
        <Arguments args={call.args} edit={edit} seq={record.seq} without={shownName} />
      )}
      {!isOpen || result === undefined || end === undefined ? null : isEdit || row.same !== undefined ? (
        <details className="output same">
          <summary>{row.same === undefined ? 'result' : `the same result as call ${row.same}`}</summary>
          <Output ended={result} seq={end.seq} />
        </details>
      ) : (
        <Output ended={result} seq={end.seq} language={row.tool === 'read' ? languageOf(pathOf(call.args)) : ''} />
      )}
    </div>
  );
}

/** A line of a list in the arguments of a call: a step of a plan, or a question with its options. */
interface Step {
  readonly sign: string;
  readonly text: string;
}

const SIGNS: Readonly<Record<string, string>> = { completed: '☑', done: '☑', in_progress: '▸', pending: '☐' };
const MAX_STEPS = 50;

/** Returns the steps of a plan or the questions to the user, if the call has such an argument. */
function listOf(args: unknown): readonly Step[] | undefined {
  if (!isJsonObject(args)) return undefined;
  const steps = [args['todos'], args['plan'], args['questions']].find((value) => Array.isArray(value));
  if (!Array.isArray(steps) || steps.length === 0) return undefined;
  const shown = (steps as readonly unknown[]).slice(0, MAX_STEPS).map((step): Step | undefined => {
    if (!isJsonObject(step)) return undefined;
    const { content, options, question, status, step: words } = step;
    const text = [content, words, question].find((value) => typeof value === 'string');
    if (typeof text !== 'string') return undefined;
    const names = Array.isArray(options) ? (options as readonly unknown[]).map((option) => labelOf(option)) : [];
    const sign = typeof question === 'string' ? '?' : (SIGNS[String(status)] ?? '☐');
    return { sign, text: safeLine(names.length === 0 ? text : `${text} (${names.join(' · ')})`) };
  });
  return shown.includes(undefined) ? undefined : (shown as readonly Step[]);
}

function labelOf(option: unknown): string {
  return isJsonObject(option) && typeof option['label'] === 'string' ? option['label'] : textOf(option).text;
}

function Steps({ steps }: { readonly steps: readonly Step[] }): ReactElement {
  return (
    <ul className="steps">
      {steps.map(({ sign, text }, at) => (
        // The steps of a stored plan have a fixed order.
        <li key={at}>
          <span className="dim">{sign}</span> {text}
        </li>
      ))}
    </ul>
  );
}

/** The child runs of the run that is shown, and the view that opens one of them in place. */
export const ChildRunsContext = createContext<{
  readonly runs: readonly ListedRow[];
  readonly view: (run: ListedRow) => ReactElement | null;
}>({ runs: [], view: () => null });
/** A shorter task text is not specific enough to identify a run. */
const MIN_TASK_CHARS = 12;

/** Returns the run that a call started. It matches the child run by the call's id, or by a task in the call's arguments. */
function childOf(call: ToolStarted, children: readonly ListedRow[]): ListedRow | undefined {
  if (children.length === 0) return undefined;
  const childById = children.find(({ runId }) => call.tool_call_id !== '' && runId.endsWith(call.tool_call_id));
  if (childById !== undefined) return childById;
  const texts = isJsonObject(call.args) ? Object.values(call.args).filter((value) => typeof value === 'string') : [];
  return children.find(
    ({ task }) => task !== undefined && task.length >= MIN_TASK_CHARS && texts.some((text) => text.startsWith(task)),
  );
}

function ChildRun({ call }: { readonly call: ToolStarted }): ReactElement | null {
  const { runs, view } = useContext(ChildRunsContext);
  const { unfolded } = useContext(FoldedTextContext);
  const run = childOf(call, runs);
  const key = `run ${run?.runId ?? ''}`;
  const [isOpen, setOpen] = useState(unfolded.has(key));
  if (run === undefined) return null;
  const cost = run.costUsd === undefined ? '' : `, ${usdText(run.costUsd)}`;
  return (
    <details
      className="child-run"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        // The row may be removed and rendered again while the page is scrolled.
        if (open) unfolded.add(key);
        else unfolded.delete(key);
      }}
    >
      <summary>
        The run that this call started:{' '}
        <span className="dim">
          {stateOf(run).text.toLowerCase()}, {countOf(run.calls, 'call')}
          {cost}
        </span>
      </summary>
      {isOpen ? (
        <>
          <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>Open it on its own page</Link>
          {view(run)}
        </>
      ) : null}
    </details>
  );
}

/** Renders a result that came long after its call. */
export function ResultView(props: { readonly seq: number; readonly ended: ToolEnded }): ReactElement {
  return (
    <div className="box">
      <CallHead name={props.ended.tool_name} kind="unknown" args="result of an earlier call" tail={undefined} />
      <Output ended={props.ended} seq={props.seq} />
    </div>
  );
}

function CallHead(props: {
  readonly name: string;
  readonly kind: ToolKind;
  readonly args: string;
  readonly tail: ReactElement | undefined;
  readonly same?: number | undefined;
  readonly isOpen?: boolean;
  readonly onToggle?: () => void;
}): ReactElement {
  const { onToggle, same } = props;
  return (
    <div className="call-head">
      {/* React's types do not include custom properties. */}
      <span className="tool key" style={{ ['--key' as string]: `var(--kind-${props.kind})` }}>
        {safeLine(props.name).slice(0, MAX_NAME)}
      </span>
      <span className="args" dir="auto">
        {props.args}
      </span>
      {same === undefined ? null : <span className="tag stuck">= call {same}</span>}
      <span className="tail">{props.tail}</span>
      {onToggle === undefined ? null : (
        <button
          type="button"
          className="quiet toggle"
          aria-expanded={props.isOpen === true}
          aria-label={props.isOpen === true ? 'Fold the call' : 'Open the call'}
          onClick={onToggle}
        >
          {props.isOpen === true ? '▾' : '▸'}
        </button>
      )}
    </div>
  );
}

function tailOf(
  record: TrajectoryRecord,
  end: TrajectoryRecord | undefined,
  ended: ToolEnded | undefined,
): ReactElement {
  if (end === undefined || ended === undefined) return <span>no result yet</span>;
  const durationMs = end.recorded_at_unix_ms - record.recorded_at_unix_ms;
  const ms = ended.duration_ms ?? (record.recorded_at_unix_ms > 0 && durationMs >= 0 ? durationMs : undefined);
  return (
    <>
      {ended.is_error ? (
        <span className="tag bad">{ended.error_inferred === true ? 'reads as failed' : outcomeOf(ended)}</span>
      ) : null}
      {ms === undefined ? '' : ` ${spanText(ms)}`}
    </>
  );
}

function Arguments(props: {
  readonly args: unknown;
  readonly edit: EditDiff | undefined;
  readonly seq: number;
  readonly without: string | undefined;
}): ReactElement {
  const { args, edit, seq } = props;
  if (!isJsonObject(args) || isCut(args)) {
    return <FoldedText shown={textOf(args)} seq={seq} part="args" />;
  }
  const entries = Object.entries(args).filter(
    ([name, value]) => name !== props.without && edit?.names.includes(name) !== true && value !== false,
  );
  return (
    <>
      {edit === undefined ? null : <Edit lines={edit.lines} />}
      <dl className="fields">
        {entries.slice(0, MAX_FIELDS).map(([name, value]) => (
          <Field key={name} name={name} value={value} seq={seq} language={languageOf(pathOf(args))} />
        ))}
        {entries.length > MAX_FIELDS ? <dt>and {entries.length - MAX_FIELDS} more</dt> : null}
      </dl>
    </>
  );
}

function Edit({ lines }: { readonly lines: EditDiff['lines'] }): ReactElement {
  const [isWhole, setWhole] = useState(lines.length <= DIFF_LINES);
  return (
    <>
      <pre className="diff" dir="auto">
        {lines.slice(0, isWhole ? lines.length : DIFF_LINES).map(({ sign, text }, at) => (
          // The lines of a stored edit have a fixed order.
          <span key={at} className={sign === '-' ? 'gone' : sign === '+' ? 'new' : undefined}>
            {sign} {safeText(text)}
            {'\n'}
          </span>
        ))}
      </pre>
      {isWhole ? null : (
        <div className="fold">
          <button type="button" className="link" onClick={() => setWhole(true)}>
            Show {countText(lines.length - DIFF_LINES)} more lines
          </button>
        </div>
      )}
    </>
  );
}

const CONTENTS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text', 'new_string', 'new_str', 'code']);

function pathOf(args: unknown): unknown {
  if (!isJsonObject(args)) return undefined;
  return args['path'] ?? args['file_path'] ?? args['filePath'];
}

function Field(props: {
  readonly name: string;
  readonly value: unknown;
  readonly seq: number;
  readonly language: string;
}): ReactElement {
  const language = CONTENTS.has(props.name) ? props.language : '';
  return (
    <>
      <dt>{safeLine(props.name).slice(0, MAX_NAME)}</dt>
      <dd>
        <FoldedText shown={textOf(props.value)} seq={props.seq} part={`args.${props.name}`} language={language} />
      </dd>
    </>
  );
}

function Output(props: { readonly ended: ToolEnded; readonly seq: number; readonly language?: string }): ReactElement {
  const { ended, language = '', seq } = props;
  const { pictures, shown } = shownResult(ended.result);
  return (
    <div className="output">
      {ended.result_missing === true ? <p className="text dim">The source has no result of this call.</p> : null}
      {shown.text === '' && pictures.length === 0 && ended.result_missing !== true ? (
        <p className="text dim">nothing</p>
      ) : null}
      <FoldedText shown={shown} seq={seq} part="result" language={ended.is_error ? '' : language} />
      {pictures.map((picture, at) => (
        // The parts of a stored result have a fixed order.
        <Picture key={at} picture={picture} seq={seq} />
      ))}
    </div>
  );
}
