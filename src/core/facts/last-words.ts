import { textOfContent, type StoredContent } from '../records/agent-message.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { isJsonObject, present } from '../base/json.ts';
import { NO_REQUEST } from './first-request.ts';
import { ANSWER, HOST_NOTE } from './last-act.ts';
import { questionIn } from './question-in.ts';
import { taskTitle } from './task-title.ts';

/** Contains untrusted text: pass it through `printable` before showing it. */
export interface LastWords {
  /** The beginning of the last message, at most 300 characters. */
  readonly lastMessage?: string;
  /** Its last paragraph, or the end of that, at most 300 characters. Absent if `lastMessage` is all of it. */
  readonly lastParagraph?: string;
  /** The question with which its answer ends, at most 200 characters. Absent if it did not answer or ends otherwise. */
  readonly question?: string;
  /** The first line of the last request of the user. Absent if there was only one. */
  readonly lastRequest?: string;
}

const MESSAGE_CHARS = 300;
const REQUEST_CHARS = 200;
/** The arguments of a call that is an answer which are its words. */
const SAID = ['summary', 'result', 'message', 'answer'];

/** The last words of the user and of the agent. */
export class LastWordsFold {
  #message = '';
  #request: string | undefined;
  #requests = 0;
  /** Codex writes a comment and the answer after it as two messages, which are one here. */
  #hasComments = false;

  fold(payload: TrajectoryPayload): void {
    if (payload.kind === 'run_started') this.#hasComments = payload.format === 'codex';
    if (payload.kind === 'tool_started' && ANSWER.test(payload.tool_name)) {
      const { args } = payload;
      const said = isJsonObject(args) ? SAID.map((name) => args[name]).find((text) => typeof text === 'string') : '';
      this.#message = said?.trim() || this.#message;
    }
    if (payload.kind !== 'message_appended') return;
    const { message } = payload;
    if (message.role !== 'assistant' && message.role !== 'user') return;
    const text = textOfContent(message.content).trim();
    if (message.role === 'user') {
      const isRequest = !HOST_NOTE.test(text) && !NO_REQUEST.test(text);
      const request = isRequest ? taskTitle(text) : undefined;
      if (request === undefined || request === this.#request) return;
      this.#requests += 1;
      this.#request = request.slice(0, REQUEST_CHARS).toWellFormed();
      return;
    }
    // The error of a model or a host is not what the agent said.
    if (text !== '' && text !== message.error_message?.trim()) this.#message = this.#lastText(message.content) || text;
  }

  /** The text after the last thought or call of an answer, which may have several texts. */
  #lastText(content: StoredContent): string {
    if (typeof content === 'string') return content.trim();
    const texts = content.slice(content.findLastIndex(({ type }) => type !== 'text') + 1);
    return textOfContent(this.#hasComments ? texts.slice(-1) : texts).trim();
  }

  get words(): LastWords {
    const text = this.#message;
    const isLong = text.length > MESSAGE_CHARS;
    return present({
      lastMessage: text === '' ? undefined : text.slice(0, MESSAGE_CHARS).toWellFormed(),
      lastParagraph: isLong ? endOf(text) : undefined,
      question: questionIn(text),
      lastRequest: this.#requests > 1 ? this.#request : undefined,
    });
  }
}

/** The last paragraph that says something, from the beginning of a line or a word. */
function endOf(text: string): string {
  const paragraph = text.split(/\n\s*\n/).findLast((one) => /[\p{L}\p{N}]/u.test(one)) ?? text;
  const end = paragraph.trim().slice(-MESSAGE_CHARS);
  return (end.length === paragraph.trim().length ? end : end.slice(end.search(/\s/) + 1)).toWellFormed();
}
