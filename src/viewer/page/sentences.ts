import { inWords } from '../../core/records/words.ts';
import type { KindsThat, PayloadOf } from '../../core/records/shapes.ts';
import { rowOf } from '../../core/records/kind-definition.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { countOf, countText } from '../../core/base/number-text.ts';
import { textOf } from './text-of.ts';
import { fullTimeText, spanText } from './number-text.ts';

type ToldKind = KindsThat<{ readonly row: 'event' | 'fault' }>;

export type ToldPayload = PayloadOf<ToldKind>;

type Sentence = readonly [string, string];

/** Sentences for kinds of which the fields alone say too little. */
const SENTENCES: { readonly [Kind in ToldKind]?: (payload: PayloadOf<Kind>) => Sentence } = {
  run_started: ({ identity }) => ['Run began', joinParts(identity.agent_name, identity.model_id)],
  run_ended: ({ outcome, success }) => [
    'Run ended',
    `${outcome}${success === undefined ? '' : success ? ', succeeded' : ', failed'}`,
  ],
  run_resumed: ({ trigger }) => ['Run resumed', trigger],
  run_identified: ({ agent_name: agent, conversation_id: conversation, model_id: model }) => [
    'Facts about the run',
    joinParts(agent, model, conversation),
  ],
  child_ended: ({ child_run_id: run, usage }) => ['Child run ended', `${run}, ${countOf(usage.calls ?? 0, 'call')}`],
  deadline_set: ({ deadline_at_unix_ms: atMs }) => ['Deadline', atMs === undefined ? 'none' : fullTimeText(atMs)],
  stop_requested: ({ reason }) => ['Asked to stop', reason],
  completion_checked: ({ met, missing }) => [
    'Wanted to stop',
    met ? 'nothing was missing' : `missing: ${missing.join('; ')}`,
  ],
  compaction: ({ trigger }) => ['Conversation shortened', trigger],
  gap: ({ through_seq: last, reason }) => ['Records lost', `up to ${countText(last)}: ${reason}`],
  output_tokens_escalation: ({ prev_cap: before, new_cap: after }) => [
    'Output limit raised',
    `${countText(before)} → ${countText(after)} tokens`,
  ],
  advice_acknowledged: ({ response, note }) => [`Agent ${response} the advice`, note ?? ''],
  prompt_used: ({ prompt_name: name }) => ['Prompt', name],
  advice_held: ({ provider_name: name, reason }) => ['Advice held back', `${name}: ${inWords('held', reason)}`],
  provider_failed: ({ provider_name: name, phase, message }) => ['coxswain', `${name} failed in ${phase}: ${message}`],
  provider_overran: ({ provider_name: name, duration_ms: tookMs, limit_ms: limitMs }) => [
    'coxswain',
    `${name} took ${spanText(tookMs)}, more than its ${spanText(limitMs)}`,
  ],
  fault_noticed: ({ where, message }) => ['coxswain', `${where}: ${message}`],
};

function joinParts(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' · ');
}

export function isTold(payload: TrajectoryPayload): payload is ToldPayload {
  const row = rowOf(payload);
  return row === 'event' || row === 'fault';
}

export function sentenceOf(payload: ToldPayload): Sentence {
  // The cast is safe: each entry is stored under its own kind.
  const sentence = SENTENCES[payload.kind] as ((payload: ToldPayload) => Sentence) | undefined;
  return sentence === undefined ? fieldsAsSentence(payload) : sentence(payload);
}

function fieldsAsSentence({ kind, ...fields }: TrajectoryPayload): Sentence {
  const title = kind.replaceAll('_', ' ');
  const facts = Object.entries(fields).map(([name, value]) => `${name.replaceAll('_', ' ')} ${textOf(value).text}`);
  return [`${title.charAt(0).toUpperCase()}${title.slice(1)}`, joinParts(...facts)];
}
