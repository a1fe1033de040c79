import { jsonOf, type Json, listOf, membersOf } from '../../core/base/json.ts';
import type { CallShape } from '../parts/call-ids.ts';

const COMMAND_IN_SCRIPT = /tools\.exec_command\(\{\s{0,20}"?cmd"?:\s{0,20}("(?:[^"\\]|\\.){0,20000}")/g;

const POLL_IN_SCRIPT = /tools\.write_stdin\(\{\s{0,20}"?session_id"?:\s{0,20}(\d+),\s{0,20}"?chars"?:\s{0,20}""/;

/** The call of a script of the code mode that only asks for the output of a command, or only runs commands. */
export function callOfScript(script: unknown): Pick<CallShape, 'name' | 'args'> | undefined {
  if (typeof script !== 'string') return undefined;
  const [, session] = POLL_IN_SCRIPT.exec(script) ?? [];
  if (session !== undefined && script.split('tools.').length === 2)
    return { name: 'write_stdin', args: { session_id: Number(session), chars: '', script } };
  // A script that calls no other tool is its commands, one a line.
  const commands = Array.from(script.matchAll(COMMAND_IN_SCRIPT), ([, text = '']) => jsonOf(text));
  const isAll = commands.length > 0 && script.split('tools.').length === commands.length + 1;
  const cmd = isAll && commands.every((command) => typeof command === 'string') ? commands.join('\n') : undefined;
  return cmd === undefined ? undefined : { name: 'exec_command', args: { cmd, script } };
}

const SCRIPT_HEAD = /^Script (completed|failed)\b/;

/** The texts that a script of the code mode printed after its head. Results of commands are JSON; their output stands for them. */
export function scriptAnswer(output: unknown): { readonly result: Json; readonly isError: boolean } | undefined {
  const [head, ...texts] = listOf(output).map((part) => membersOf(part).text);
  const state = typeof head === 'string' ? SCRIPT_HEAD.exec(head)?.[1] : undefined;
  if (state === undefined) return undefined;
  let isError = state === 'failed';
  const printed = texts.map((text) => {
    const { exit_code: exitCode, output: commandOutput } = membersOf(jsonOf(typeof text === 'string' ? text : ''));
    if (typeof exitCode === 'number' && exitCode !== 0) isError = true;
    return typeof exitCode === 'number' && typeof commandOutput === 'string' ? commandOutput : text;
  });
  return { result: printed.filter((text) => typeof text === 'string').join('\n'), isError };
}
