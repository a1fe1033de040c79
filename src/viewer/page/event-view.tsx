import {
  passOver,
  type AskedKind,
  type CallKind,
  type DeliveredKind,
  type FaultKind,
  type HostKind,
  type LifeKind,
  type PatternKind,
  type ProducedKind,
  type RequestKind,
  type TalkKind,
  type UnreadKind,
} from '../../records/pass-over.ts';
import type { ReactElement } from 'react';

import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryPayload } from '../../records/trajectory-record.ts';
import { FoldedText } from './folded-text.tsx';
import { countOf, countText, fullTimeText, spanText } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { safeLine } from './safe-text.ts';
import { textOf } from './text-of.ts';

/** A turning point of the run, in a line; undefined for what is no such thing. */
export function EventView({ payload }: { readonly payload: TrajectoryPayload }): ReactElement {
  const [title, text] = eventText(payload);
  return (
    <div className="event">
      <b>{title}</b>
      <span>{safeLine(text).slice(0, 400)}</span>
    </div>
  );
}

function eventText(payload: TrajectoryPayload): readonly [string, string] {
  switch (payload.kind) {
    case 'run_started': {
      const { agent_name: agent, model_id: model } = payload.identity;
      return ['Run began', [agent, model].filter((part) => part !== undefined).join(' · ')];
    }
    case 'run_ended': {
      const success = payload.success === undefined ? '' : payload.success ? ', succeeded' : ', failed';
      return ['Run ended', `${payload.outcome}${success}`];
    }
    case 'run_resumed':
      return ['Run goes on', payload.trigger];
    case 'run_identified': {
      const { agent_name: agent, conversation_id: conversation, model_id: model } = payload;
      return ['Known of the run', [agent, model, conversation].filter((part) => part !== undefined).join(' · ')];
    }
    case 'child_ended':
      return ['Run below ended', `${payload.child_run_id}, ${countOf(payload.usage.calls ?? 0, 'call')}`];
    case 'deadline_set':
      return [
        'Deadline',
        payload.deadline_at_unix_ms === undefined ? 'none' : fullTimeText(payload.deadline_at_unix_ms),
      ];
    case 'completion_checked':
      return ['Wanted to stop', payload.met ? 'nothing was missing' : `missing: ${payload.missing.join('; ')}`];
    case 'compaction':
      return ['Conversation shortened', payload.trigger];
    case 'gap':
      return ['Records lost', `up to ${countText(payload.through_seq)}: ${payload.reason}`];
    case 'output_tokens_escalation':
      return ['Output limit raised', `${countText(payload.prev_cap)} → ${countText(payload.new_cap)} tokens`];
    case 'advice_acknowledged':
      return [`Agent ${payload.response} the advice`, payload.note ?? ''];
    case 'prompt_used':
      return ['Prompt', payload.prompt_name];
    default:
      passOver<
        | 'turn_started'
        | 'turn_ended'
        | 'message_appended'
        | CallKind
        | 'provider_request_prepared'
        | 'context_transform_applied'
        | 'tool_gate_applied'
        | 'tool_gate_conflict_resolved'
        | 'session_event'
        | PatternKind
        | ProducedKind
        | DeliveredKind
        | 'evaluation'
        | 'model_answered'
        | FaultKind
        | 'unrecognised'
      >(payload);
      return [payload.kind, ''];
  }
}

/** A pattern that was flagged or left. */
export function PatternView(props: { readonly pattern: TrajectoryPattern; readonly isCleared: boolean }): ReactElement {
  const { pattern, isCleared } = props;
  const about = pattern.subject === undefined ? '' : ` (${safeLine(pattern.subject)})`;
  const tool = pattern.tool === undefined ? '' : ` with ${safeLine(pattern.tool).slice(0, 80)}${about}`;
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

/** Something that went wrong on coxswain's side; the agent did not notice. */
export function FaultView({ payload }: { readonly payload: TrajectoryPayload }): ReactElement {
  return (
    <div className="event">
      <b className="bad">coxswain</b>
      <span>{safeLine(faultText(payload)).slice(0, 400)}</span>
    </div>
  );
}

function faultText(payload: TrajectoryPayload): string {
  switch (payload.kind) {
    case 'provider_failed':
      return `${payload.provider_name} failed in ${payload.phase}: ${payload.message}`;
    case 'provider_overran':
      return `${payload.provider_name} took ${spanText(payload.duration_ms)}, more than its ${spanText(payload.limit_ms)}`;
    case 'fault_noticed':
      return `${payload.where}: ${payload.message}`;
    default:
      passOver<
        | LifeKind
        | TalkKind
        | CallKind
        | RequestKind
        | HostKind
        | PatternKind
        | ProducedKind
        | DeliveredKind
        | AskedKind
        | UnreadKind
      >(payload);
      return payload.kind;
  }
}

/** A record of another shape than its kind has, such as one of which a name was too long to send, as JSON. */
export function RawView(props: { readonly payload: unknown; readonly seq: number }): ReactElement {
  return <FoldedText shown={textOf(props.payload)} seq={props.seq} part="raw" />;
}

/** A record as it is stored. */
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
