import { hashText } from '../../base/hash.ts';
import { isJsonObject, type Json, present } from '../../base/json.ts';
import { TRAJECTORY_SCHEMA_VERSION, type TrajectoryPayload } from '../../records/trajectory-record.ts';
import type { Session } from '../../session/session.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';
import { TrajectoryAnalysis } from '../../detect/patterns/trajectory-analysis.ts';
import { defaultDetectors } from '../../detect/detectors/default-detectors.ts';

const followedSessions = new WeakMap<Session, { readonly analysis: TrajectoryAnalysis; calls: number }>();

/** For a session without a run: each call counts as a turn. Cost: a fold of the new calls, at most 1,000. */
export function sessionTrajectory(session: Session): TrajectoryAnalysis {
  const followed = followedSessions.get(session) ?? { analysis: newAnalysis(session), calls: 0 };
  followedSessions.set(session, followed);
  const view = session.slice(ToolInvoked);
  const missedCount = Math.min(view.total() - followed.calls, ToolInvoked.retain);
  for (const call of missedCount > 0 ? view.last(missedCount) : []) foldCall(followed.analysis, call);
  followed.calls = view.total();
  return followed.analysis;
}

function newAnalysis({ task }: Session): TrajectoryAnalysis {
  const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  if (task === undefined) return analysis;
  const payload: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'session', depth: 0 }, task };
  analysis.fold({ schema_version: TRAJECTORY_SCHEMA_VERSION, seq: 0, depth: 0, recorded_at_unix_ms: 0, payload });
  return analysis;
}

function foldCall(analysis: TrajectoryAnalysis, call: ToolInvoked): void {
  const id = { tool_call_id: `${call.callIndex}`, tool_name: call.name };
  const payloads: readonly TrajectoryPayload[] = [
    { kind: 'turn_started' },
    { kind: 'tool_started', ...id, args: argsOf(call) },
    {
      kind: 'tool_ended',
      ...id,
      result: resultOf(call),
      is_error: !call.success,
      ...present({ outcome: call.outcome }),
    },
  ];
  for (const [index, payload] of payloads.entries()) {
    const seq = call.callIndex * payloads.length + index;
    const recorded_at_unix_ms = call.atMs;
    analysis.fold({ schema_version: TRAJECTORY_SCHEMA_VERSION, seq, depth: 0, recorded_at_unix_ms, payload });
  }
}

/** Cut arguments get a word of their hash, so different ones stay different. */
function argsOf({ paramsHash, paramsPreview }: ToolInvoked): Json {
  const isComplete = hashText(paramsPreview) === paramsHash;
  try {
    // JSON.parse returns JSON.
    const args = JSON.parse(paramsPreview) as Json;
    if (isComplete) return args;
    return isJsonObject(args) ? { ...args, '…': hashWord(paramsHash) } : [args, hashWord(paramsHash)];
  } catch {
    // The preview is cut, so it is no JSON.
    return `${paramsPreview} ${hashWord(paramsHash)}`;
  }
}

function resultOf({ resultHash, resultPreview }: ToolInvoked): string {
  return hashText(resultPreview) === resultHash ? resultPreview : `${resultPreview} ${hashWord(resultHash)}`;
}

/** A hash as a word of letters: digits would be masked as an id. */
function hashWord(hash: string): string {
  return hash.replaceAll(/[0-9a-f]/g, (digit) => 'ghijklmnopqrstuv'[Number.parseInt(digit, 16)] ?? '');
}
