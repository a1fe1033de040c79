import { LruMap } from '../base/lru-map.ts';
import type { Json } from '../base/json.ts';
import { textOfContent } from '../records/agent-message.ts';
import { outcomeOf, type TrajectoryPayload } from '../records/trajectory-record.ts';
import { mayFail } from './failed-calls.ts';
import { givesInstructions, readPath } from './instruction-lines.ts';
import { HOST_NOTE } from './last-act.ts';

const MAX_CALLS = 512;

/** Drops the texts that no lesson needs (answers, messages, results of successful calls) before redaction. Memory: 512 calls. */
export class LessonTexts {
  readonly #args = new LruMap<Json>(MAX_CALLS);

  keep(payload: TrajectoryPayload): TrajectoryPayload {
    switch (payload.kind) {
      case 'tool_started':
        this.#args.set(payload.tool_call_id, payload.args);
        return payload;
      case 'tool_ended': {
        const args = this.#args.get(payload.tool_call_id) ?? null;
        const isNeeded = outcomeOf(payload) !== 'ok' || readPath(args) !== undefined || mayFail(args, payload.result);
        return isNeeded ? payload : { ...payload, result: '' };
      }
      case 'message_appended': {
        const { message } = payload;
        const text = message.role === 'assistant' ? '' : textOfContent(message.content);
        if (givesInstructions(text)) return payload;
        // Whether the agent has work after the message.
        const content = message.role === 'user' ? (HOST_NOTE.exec(text.trimStart())?.[0] ?? '') : '';
        return { ...payload, message: { ...message, content } };
      }
      default:
        return payload;
    }
  }
}
