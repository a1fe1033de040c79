import { isJsonObject, type Json } from '../base/json.ts';
import { REQUEST_RETRIED, waitText } from '../records/words.ts';
import { commandLineOf } from './check-command.ts';
import { textOfContent } from '../records/agent-message.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { resultText } from '../detect/calls/answer-reading.ts';
import type { RunCall } from './run-call.ts';
import { RunningPrograms, sendsInterrupt } from './running-programs.ts';
import { WAITS_FOR_ANSWER, WAITS_FOR_DECISION, type LastAct } from './run-verdict.ts';

const LABEL_CHARS = 80;
const QUESTION_CHARS = 200;
const MAX_RUNNING = 64;
const QUESTION = /^(?:AskUserQuestion|ask_user(?:_question)?|ask_followup_question|request_user_input|question)$/;
const PLAN = /^(?:ExitPlanMode|exit_plan_mode|plan_exit)$/;
const ANSWER = /^(?:finish|submit|task_complete|mark_task_complete|complete_task|attempt_completion|final_answer)$/;
/** Reasons why a model stopped that an answer does not have. */
const NO_ANSWER = /^(?:tool_use|tool_calls|toolUse|max_tokens|length|pause_turn|error|aborted)$/;

/** What programs write for a command of the user that gives the agent no work, such as `/exit`, and its output. */
export const COMMAND_ECHO: RegExp = /^<(?:command-|local-command-|bash-)/;

/** A message with which a user leaves the program. */
const LEAVES = /^\/?(?:exit|quit)$/i;
/** What hosts write for a request that a person stopped. */
const ABORTED = /\baborted\b/i;
/** What Claude Code writes for Esc and Ctrl-C. */
export const INTERRUPTED: RegExp = /^\[Request interrupted/;

/** Returns true for a tool whose result a person gives: the answer to a question, or the decision on a plan. */
export function asksPerson(tool: string): boolean {
  return QUESTION.test(tool) || PLAN.test(tool);
}

export class LastActFold {
  #waitsFor = '';
  /** True if the agent was given no work yet. */
  #isIdle: boolean | undefined;
  #isAnswer = false;
  /** True if the user left the program after the answer. */
  #hasLeft = false;
  #isPlan = false;
  /** The requests that failed since the last answer, the time of the last record before them, and what the last one said. */
  #failedRequests = 0;
  #failingSinceMs = 0;
  #lastAtMs = 0;
  #requestError = '';
  #lastCall: RunCall | undefined;
  readonly #programs = new RunningPrograms();
  readonly #running = new Map<string, RunCall>();
  /** The calls of the answer that the model's service made itself, such as a search: their results are before its words. */
  #served: ReadonlySet<string> = new Set();

  fold({ payload, recorded_at_unix_ms: atMs }: TrajectoryRecord, call: RunCall | undefined): void {
    if (this.#failedRequests === 0) this.#failingSinceMs = this.#lastAtMs || atMs;
    this.#lastAtMs = atMs;
    switch (payload.kind) {
      case 'session_event':
        this.#waitsFor = waitText(payload) ?? this.#waitsFor;
        if (payload.event_type === REQUEST_RETRIED) this.#noteFailedRequest(textIn(payload.data, 'error'));
        return;
      case 'message_appended': {
        const { message } = payload;
        this.#waitsFor = '';
        if (message.role === 'system' || message.role === 'tool_result') return;
        const text = message.role === 'user' ? textOfContent(message.content).trimStart() : '';
        if (COMMAND_ECHO.test(text)) {
          this.#isIdle ??= true;
          return;
        }
        if (this.#isAnswer && LEAVES.test(text.trimEnd())) {
          this.#hasLeft = true;
          return;
        }
        // An interruption after the answer stops a hook, not the answer.
        if (this.#isAnswer && INTERRUPTED.test(text)) return;
        // The call was of the work before this message.
        if (this.#isAnswer && message.role === 'user') this.#lastCall = undefined;
        this.#isIdle = false;
        this.#hasLeft = false;
        if (message.role === 'assistant' && message.error_message !== undefined && !ABORTED.test(message.error_message))
          this.#noteFailedRequest(message.error_message);
        else if (!INTERRUPTED.test(text)) this.#failedRequests = 0;
        this.#running.clear();
        this.#isAnswer = false;
        // The note of an interruption follows the plan.
        if (message.role === 'user') return;
        this.#isPlan = false;
        const { content, stop_reason: reason } = message;
        const parts = typeof content === 'string' ? [] : content;
        const calls = parts.filter((part) => part.type === 'tool_call');
        const after =
          calls.length === 0 ? content : parts.slice(parts.findLastIndex(({ type }) => type === 'tool_call') + 1);
        this.#isAnswer =
          message.error_message === undefined &&
          !NO_ANSWER.test(reason ?? '') &&
          textOfContent(after).trim() !== '' &&
          (calls.length === 0 || reason === 'end_turn');
        this.#served = new Set(this.#isAnswer ? calls.map(({ id }) => id) : []);
        return;
      }
      case 'tool_started':
        if (this.#served.has(payload.tool_call_id)) return;
        this.#isIdle = false;
        this.#isAnswer = ANSWER.test(payload.tool_name);
        this.#isPlan = false;
        this.#failedRequests = 0;
        this.#begin(call);
        return;
      case 'tool_ended':
        if (call === undefined || this.#served.has(call.id)) return;
        this.#programs.note(call, resultText(payload.result));
        this.#end(call);
        return;
      default:
    }
  }

  get running(): RunCall | undefined {
    return this.#running.values().next().value;
  }

  get state(): LastAct {
    const { running } = this;
    const call = running ?? this.#lastCall;
    return {
      waitsFor: this.#waitsFor,
      isAnswer: this.#isAnswer,
      ...(this.#hasLeft ? { hasLeft: true } : {}),
      ...(this.#isIdle === true ? { isIdle: true } : {}),
      isPlan: this.#isPlan,
      isRunning: running !== undefined,
      othersRunning: Math.max(0, this.#running.size - 1),
      ...(call === undefined
        ? {}
        : {
            call: callLabel(this.#programs.begunBy(call) ?? call),
            // An answer after a declined plan or question is about it.
            isRefused: call.outcome === 'refused' && !(this.#isAnswer && asksPerson(call.tool)),
          }),
      ...(call?.failed === true && !sendsInterrupt(call.args) ? { failedCall: call.number } : {}),
      ...(this.#failedRequests === 0
        ? {}
        : {
            failedRequests: this.#failedRequests,
            failingSinceMs: this.#failingSinceMs,
            requestError: this.#requestError,
          }),
    };
  }

  #noteFailedRequest(error = ''): void {
    this.#failedRequests += 1;
    this.#requestError = oneLine(error);
  }

  #begin(call: RunCall | undefined): void {
    if (call === undefined) return;
    if (this.#running.size < MAX_RUNNING) this.#running.set(call.id, call);
    this.#waitsFor = questionOf(call);
  }

  #end(call: RunCall): void {
    // If the source contains no result, the call was running, or its question is open.
    if (call.resultMissing) return;
    this.#waitsFor = '';
    this.#running.delete(call.id);
    this.#lastCall = call;
    this.#isPlan = PLAN.test(call.tool) && (call.failed || call.outcome !== undefined);
  }
}

function questionOf({ args, tool }: RunCall): string {
  if (PLAN.test(tool)) return WAITS_FOR_DECISION;
  if (!QUESTION.test(tool)) return '';
  const members = isJsonObject(args) ? args : {};
  const [first] = Array.isArray(members['questions']) ? members['questions'] : [];
  const question = textIn(first, 'question') ?? textIn(args, 'question') ?? textIn(args, 'prompt');
  return `${WAITS_FOR_ANSWER}${question === undefined ? '' : `: ${question}`}`;
}

/** An offer to go on with something that has no name needs no answer. */
const OPEN_OFFER =
  /\b(?:any|some)thing else\b|^is there anything\b|\bany (?:other |more |further )?questions\b|\b(?:(?:what|how) else|how) can I help\b|\bwhat(?:'s| is)? next\b|\bto \w+(?: on)? next\?/i;
const ASKS_FOR_ANSWER = /(?<=\?["'*_)”]*) +(?:just |please )?let me know[^.!?\n]{0,60}[.!]?$/i;

const CHOICE = /^\s*(?:[-*•]|\(?(?:\d{1,2}|[A-Za-z])[.)])\s|^\s*$/;
const OFFERS_CHOICES =
  /\b(?:(?:would|do) you|should (?:I|we)|shall (?:I|we)|want me to|which (?:one|of|option|would))\b.*[?:]\W*$/i;
const MAX_END_CHARS = 4_000;

/** A question with the list of choices that follows it at the end of a text. */
function questionWithChoices(text: string): string | undefined {
  const lines = text.slice(-MAX_END_CHARS).split('\n');
  const lead = lines.findLastIndex((line) => !CHOICE.test(line));
  if (lead === lines.length - 1 || !OFFERS_CHOICES.test(lines[lead] ?? '')) return undefined;
  return lines.slice(lead).join(' ').replaceAll(/\s+/g, ' ').trim();
}

/** Such as "Want me to?": what it asks is in the sentence before. */
const SHORT_QUESTION_CHARS = 12;

/** The question with which a text ends, with its choices; its last 200 characters if it is longer. Undefined without one that a person must answer. */
export function questionIn(text: string): string | undefined {
  const offer = questionWithChoices(text)?.replaceAll(/[*_`]/g, '');
  if (offer !== undefined)
    return offer.length > QUESTION_CHARS ? `${offer.slice(0, QUESTION_CHARS - 1).toWellFormed()}…` : offer;
  const line = text.slice(text.lastIndexOf('\n') + 1).replace(ASKS_FOR_ANSWER, '');
  const [before, sentence = ''] = ['', ...line.split(/(?<=[.!?:]) +(?!\p{Ll})|(?<=[。！？])/u)].slice(-2);
  if (!/[?？]["'*_)”」]*$/.test(sentence) || OPEN_OFFER.test(sentence)) return undefined;
  const question = `${sentence.length < SHORT_QUESTION_CHARS ? `${before} ` : ''}${sentence}`
    .trim()
    .replaceAll(/[*_`]/g, '');
  return question.length > QUESTION_CHARS ? `…${question.slice(1 - QUESTION_CHARS)}`.toWellFormed() : question;
}

/** Returns the command of a call, or its tool and what it is about, in at most 80 characters. */
export function callLabel({ args, tool }: Pick<RunCall, 'args' | 'tool'>): string {
  const command = commandLineOf(args);
  if (command !== undefined) return oneLine(withoutFolder(command));
  return oneLine(textIn(args, 'description') ?? `${tool} ${firstText(args) ?? ''}`);
}

const LEADING_CD = /^cd (?:"([^"]*)"|'([^']*)'|(\S+?))[ \t]*(?:&&|;|\n)\s*/;

export function withoutFolder(command: string): string {
  return command.trim().replace(LEADING_CD, '');
}

/** The folder to which the line of a call goes first. */
export function leadingFolder(args: Json): string | undefined {
  const groups = LEADING_CD.exec((commandLineOf(args) ?? '').trim())?.slice(1);
  return groups?.find((folder) => folder !== undefined);
}

function textIn(value: Json | undefined, name: string): string | undefined {
  const text = isJsonObject(value) ? value[name] : undefined;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

function firstText(args: Json): string | undefined {
  return isJsonObject(args) ? Object.values(args).find((value) => typeof value === 'string') : undefined;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LABEL_CHARS ? `${line.slice(0, LABEL_CHARS - 1).toWellFormed()}…` : line;
}
