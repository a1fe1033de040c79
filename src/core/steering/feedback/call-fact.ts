import { hashText } from '../../base/hash.ts';
import { answerMatches } from '../../detect/calls/answer-rules.ts';
import { namesFailure } from '../../detect/calls/error-class.ts';
import { readCall } from '../../detect/calls/tool-semantics.ts';
import type { RecentCall } from '../../detect/patterns/recent-call.ts';
import type { AnswerClass } from '../../records/trajectory-pattern.ts';
import type { ToolInvoked } from '../../session/tool-invoked.ts';
import { argsOf } from '../prompt/seen-call.ts';

/**
 * A fact about a repeated call that decides the way out.
 *
 * - `comment`: a command that consists of a comment
 * - `foreign-name`: the missing name is not in the command, so an earlier part of it produced the name
 * - `missing-module`: a program runs, but a module that it needs is missing
 * - `program-message`: the result of a pipeline contains a message of one of its programs
 * - `rejected`: the result says that the call does not meet a requirement, and not which one
 * - `empty-output`: nothing was returned by a call that changes nothing
 * - `long-call`: a syntax error in a call of more than 512 characters
 * - `known-result`: the content of something that was read
 */
export type CallFact =
  | 'comment'
  | 'foreign-name'
  | 'missing-module'
  | 'program-message'
  | 'rejected'
  | 'empty-output'
  | 'long-call'
  | 'known-result';

/** A part of a command that runs before another one. */
const EARLIER_PART = /[|`]|\$\(|-exec/;
const QUOTED_NAME = /['"`‘]([^'"`‘’\s~]+)['"`’]/;
const PROGRAM_MESSAGE = /^(?:\S*\/)?([\w.-]+): (?:\S+: )?[^\d\s]/gm;

/**
 * @param command  the command, or the main argument
 * @param answer  the class of the result, as the pattern has it
 */
export function callFactOf(
  invoked: ToolInvoked,
  command: string,
  { answer, call }: { readonly answer: AnswerClass | undefined; readonly call: RecentCall },
): CallFact | undefined {
  const { resultPreview: result, resultChars } = invoked;
  const { errorLine = '', kind } = call;
  if (kind === 'note' && command.trimStart().startsWith('#')) return 'comment';
  const isComplete = hashText(invoked.paramsPreview) === invoked.paramsHash;
  switch (answer) {
    case 'empty':
      return kind === 'write' ? undefined : 'empty-output';
    case 'syntax':
      return isComplete ? undefined : 'long-call';
    case 'other':
      return answerMatches('refuses', errorLine) ? 'rejected' : undefined;
    case 'missing-program':
      return /\bmodule\b/i.test(errorLine) ? 'missing-module' : undefined;
    case 'not-found':
      return isComplete && isShell(invoked) && isProducedName(errorLine, command) ? 'foreign-name' : undefined;
    case 'content': {
      if (hasProgramMessage(result, command) && isShell(invoked)) return 'program-message';
      if (kind === 'read') return 'known-result';
      const isRejection = resultChars === undefined && (namesFailure(result) || answerMatches('none', result));
      return isRejection && /[a-z]{3}/i.test(result) ? 'rejected' : undefined;
    }
    default:
      return undefined;
  }
}

function isShell(invoked: ToolInvoked): boolean {
  return readCall(invoked.name, argsOf(invoked)).shell;
}

/** Returns true if the error names something that the command does not contain but may produce. */
function isProducedName(errorLine: string, command: string): boolean {
  const name = QUOTED_NAME.exec(errorLine)?.[1]
    ?.split('/')
    .findLast((part) => part !== '');
  return name !== undefined && EARLIER_PART.test(command) && !command.includes(name);
}

/** Returns true if a program of a pipeline prints a message that does not pass through the pipeline. */
function hasProgramMessage(result: string, command: string): boolean {
  if (!command.includes('|') || answerMatches('noChange', result)) return false;
  return Array.from(result.matchAll(PROGRAM_MESSAGE)).some(([, name = '']) => runsProgram(command, name));
}

/** Returns true if the command runs a program of this name. */
function runsProgram(command: string, program: string): boolean {
  const index = command.indexOf(program);
  const [textBefore, textAfter] = [command.slice(0, index), command.slice(index + program.length)];
  return index >= 0 && /(?:^|[|;&([]|xargs|-exec)\s*(?:\S*\/)?$/.test(textBefore) && /^(?:\s|$)/.test(textAfter);
}
