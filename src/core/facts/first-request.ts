import { textOfContent } from '../records/agent-message.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { HOST_NOTE } from './last-act.ts';
import { bareCommand, isOwnCommand, saysTask, slashCommand, taskTitle } from './task-title.ts';

const REQUEST_CHARS = 4_000;
/** Less is an answer to a question of the agent, and JSON says nothing. */
const NO_ARGUMENT = /^(?:.{0,9}$|\{)/;
/** What programs write in the name of the user. */
export const NO_REQUEST: RegExp = /^(?:This session is being continued|Base directory for this skill:|Caveat:|\[Image)/;
/** The arguments at the end of the prompt of a skill. */
const SKILL_ARGUMENTS = /\n\s*ARGUMENTS: (\S[^]*)$/;

/** Less may be the words of the user after a command that has no prompt. */
const MIN_PROMPT_CHARS = 60;

/** The first message of the user that asks for something. */
export class FirstRequestFold {
  #words: string | undefined;
  /** A command without arguments, or '' for a template without words: the next message says what it is for. */
  #command: string | undefined;
  #isSettled = false;
  /** After a command of Claude Code its prompt follows in the name of the user. */
  #hasPrompt = false;

  fold(payload: TrajectoryPayload): void {
    if (this.#isSettled || payload.kind !== 'message_appended') return;
    const { content, role } = payload.message;
    if (role === 'user') this.#foldWords(textOfContent(content).trim());
    else if (role === 'assistant') this.#hasPrompt = false;
  }

  /** At most 4,000 characters. A command without arguments has the next words of the user below it. */
  get text(): string | undefined {
    return this.#words ?? (this.#command || undefined);
  }

  #foldWords(text: string): void {
    const called = slashCommand(text);
    if (called === undefined ? HOST_NOTE.test(text) : isOwnCommand(called.name)) return;
    const isPrompt = this.#hasPrompt && called === undefined && text.length >= MIN_PROMPT_CHARS;
    this.#hasPrompt = false;
    const given = isPrompt ? SKILL_ARGUMENTS.exec(text)?.[1] : text;
    if (given === undefined || (!isPrompt && NO_REQUEST.test(text)) || taskTitle(given) === undefined) return;
    const command = this.#command;
    const bare = bareCommand(given);
    if (bare !== undefined && (command ?? bare) === bare) {
      this.#command = bare;
      this.#hasPrompt = called !== undefined;
      return;
    }
    const asks = bare === undefined && saysTask(given);
    this.#isSettled = asks || command !== undefined;
    if (!asks || (command !== undefined && NO_ARGUMENT.test(given))) return;
    const words = given.slice(0, REQUEST_CHARS).toWellFormed();
    this.#words = command && called === undefined ? `${command}\n\n${words}` : words;
  }
}
