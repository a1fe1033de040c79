import { present } from '../../core/base/present.ts';
import type { Json } from '../../core/base/json.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunCall } from '../../core/facts/run-call.ts';
import { errorLineOf } from '../../core/facts/run-call.ts';
import { callText } from '../../core/facts/call-previews.ts';
import type { CallEvent } from './live-event.ts';

const MAX_CHARS = 200;

/** Returns the event of a finished call; undefined while the call is open. @param record  the last record of the call */
export function callEventOf(call: RunCall | undefined, record: TrajectoryRecord): CallEvent | undefined {
  if (call?.endSeq === undefined) return undefined;
  const { args, failed, number, resultMissing, tool } = call;
  return {
    type: 'call',
    index: number - 1,
    tool,
    call: shortCall(tool, args),
    failed,
    ...present({ error: errorLineOf(call, record) }),
    ...(resultMissing ? { missing: true } : {}),
  };
}

/** Formats a call: `bash node check.mjs` if the only argument is a string, else `tool {…}`. */
function shortCall(tool: string, args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return callText(tool, args);
  const values = Object.values(args);
  const [only] = values;
  if (values.length !== 1 || typeof only !== 'string') return callText(tool, args);
  return `${tool} ${only}`.slice(0, MAX_CHARS);
}
