import type { CallShape } from '../parts/call-ids.ts';
import type { ImportItem } from '../import-item.ts';
import {
  type JsonMembers,
  listOf,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  jsonOf,
  type Json,
} from '../../core/base/json.ts';
import { RunItems } from '../parts/run-items.ts';
import { sourceCall } from '../parts/source-call.ts';
import { sourceBlocks, sourceContent, sourceResult } from '../parts/source-content.ts';
import { sweAgentOutcome } from './swe-agent-outcome.ts';
import { inferIsError } from '../../core/detect/calls/answer-rules.ts';

/** Number of history entries that are searched for the answer of a step. Needed because some answers became no step. */
const SEARCHED_AHEAD = 32;

/**
 * Yields the items of one SWE-agent run. They come from its `trajectory` if there is one, else from its `history`. A history
 * next to a trajectory repeats the same calls. It then only provides the messages before the first answer and the structured
 * form of the calls.
 *
 * Counting rule, trajectory: every step with a non-blank `action` is one call, except the harness' own exits (`exit_cost`, …);
 * its `observation` is the result. History: every entry of an assistant's `tool_calls`, or its `action` if it has none, is one
 * call; demonstrations (`is_demo`) do not count. If the source has `tool_calls`, tool and args are the model's; else they are
 * derived from the command line (`commandCall`). The format has no error flag: the text decides.
 */
export function* sweAgentRunItems(document: JsonMembers, id: string): Generator<ImportItem> {
  const steps = listOf(document.trajectory);
  const history = listOf(document.history).map((entry) => membersOf(entry));
  const ownHistory = history.filter((entry) => entry.is_demo !== true);
  const introEntries = introduction(
    ownHistory.length > 0 ? ownHistory : listOf(membersOf(steps[0]).query).map(membersOf),
  );
  const items = new RunItems(id);
  yield items.begin('swe-agent', {
    task: textOrUndefined(sourceResult(introEntries.find((entry) => entry.role === 'user')?.content)),
    modelId: modelOf(document.replay_config),
  });
  for (const entry of history) if (entry.is_demo === true) items.skipped.add('demonstration messages');
  for (const entry of introEntries) {
    yield items.message(entry.role === 'system' ? 'system' : 'user', sourceContent(entry.content), undefined);
  }
  if (steps.length > 0) yield* stepItems(items, steps, ownHistory);
  else yield* historyItems(items, ownHistory.slice(introEntries.length));
  yield* items.finish(sweAgentOutcome(document.info));
}

function introduction(entries: readonly JsonMembers[]): readonly JsonMembers[] {
  const first = entries.findIndex((entry) => entry.role !== 'system' && entry.role !== 'user');
  return first === -1 ? entries : entries.slice(0, first);
}

function* stepItems(
  items: RunItems,
  steps: readonly unknown[],
  history: readonly JsonMembers[],
): Generator<ImportItem> {
  const answers = history.filter((entry) => entry.role === 'assistant');
  let next = 0;
  for (const value of steps) {
    const step = membersOf(value);
    const action = typeof step.action === 'string' ? step.action : '';
    const nextAnswers = answers.slice(next, next + SEARCHED_AHEAD);
    const foundIndex = nextAnswers.findIndex((answer) => sameAction(answer.action, action));
    const command = commandCall(action);
    const call = command === undefined ? undefined : (structuredCall(nextAnswers[foundIndex]) ?? command);
    if (foundIndex !== -1) next += foundIndex + 1;
    const text = textOrUndefined(step.response) ?? textOrUndefined(step.thought);
    if (text === undefined && call === undefined) {
      items.skipped.add('steps without an answer or an action');
    } else {
      const texts = text === undefined ? [] : [{ type: 'text' as const, text }];
      yield* items.answer(
        { parts: [...texts, ...(call === undefined ? [] : [{ type: 'call' as const, call }])] },
        undefined,
      );
    }
    if (step.observation === undefined || step.observation === null) continue;
    const result = sourceResult(step.observation);
    if (call !== undefined) {
      const durationMs = (numberOrUndefined(step.execution_time) ?? Number.NaN) * 1000;
      yield* items.result({ result, readsAsError: sweAgentRefusal(result), durationMs }, undefined);
    } else if (result !== '') {
      yield items.message('user', sourceContent(step.observation), undefined);
    }
  }
}

function* historyItems(items: RunItems, history: readonly JsonMembers[]): Generator<ImportItem> {
  for (const entry of history) {
    if (entry.role === 'assistant') {
      const calls = callsOf(entry).map((call) => ({ type: 'call' as const, call }));
      yield* items.answer({ parts: [...sourceBlocks(entry.content), ...calls] }, undefined);
    } else if (entry.role === 'tool' || entry.role === 'user') {
      yield* answeredItems(items, entry);
    } else if (entry.role === 'system') {
      yield items.message('system', sourceContent(entry.content), undefined);
    } else {
      items.lost.add('history entries of unknown role');
    }
  }
}

/** Yields the items of an answer with calls. The message after the answer is the result of the calls, even if it has the user's role. */
function* answeredItems(items: RunItems, entry: JsonMembers): Generator<ImportItem> {
  if (items.calls.openCount === 0) {
    yield items.message('user', sourceContent(entry.content), undefined);
    return;
  }
  const result = sourceResult(entry.content);
  const readsAsError = sweAgentRefusal(result);
  const ids = listOf(entry.tool_call_ids).flatMap((id) => textOrUndefined(id) ?? []);
  const open = ids.filter((id) => items.calls.isOpen(id));
  for (const sourceId of open) yield* items.result({ sourceId, result, readsAsError }, undefined);
  if (open.length === 0) yield* items.result({ result, readsAsError }, undefined);
}

function callsOf(entry: JsonMembers): readonly CallShape[] {
  const calls = listOf(entry.tool_calls);
  if (calls.length > 0) return calls.map((call) => sourceCall(call));
  const call = typeof entry.action === 'string' ? commandCall(entry.action) : undefined;
  return call === undefined ? [] : [call];
}

/** Returns the structured call of a step. SWE-agent runs one call per answer, so the first call of the answer is the step's. */
function structuredCall(answer: JsonMembers | undefined): CallShape | undefined {
  const [call] = listOf(answer?.tool_calls);
  return call === undefined ? undefined : sourceCall(call);
}

function sameAction(left: unknown, right: string): boolean {
  return typeof left === 'string' && left.trim() === right.trim();
}

/** Returns the model from `replay_config`, the run's configuration. In older files it is JSON text. */
function modelOf(value: unknown): string | undefined {
  const config = typeof value === 'string' ? jsonOf(value) : value;
  return textOrUndefined(membersOf(membersOf(membersOf(config).agent).model).name);
}

/** Matches the beginning of refusals by SWE-agent's own commands. */
const REFUSAL =
  /^\s*(?:Your (?:proposed )?edit (?:has introduced|was NOT applied|could not)|No file open\b|Usage: \w|File \S+ (?:not found|does not exist)|Invalid (?:line number|`\w+` parameter)|Text not found\b|EXECUTION TIMED OUT|Your last command (?:is taking|timed out)|The command '[^\n]{0,200}' was cancelled)/i;

/**
 * Returns true if a result reads like a failure: it has general signs of a failure, or it is a refusal by one of SWE-agent's
 * own commands.
 */
function sweAgentRefusal(result: Json): boolean | undefined {
  if (typeof result !== 'string') return undefined;
  return REFUSAL.test(result.slice(0, 400)) || inferIsError(result);
}

/**
 * Commands of SWE-agent's interface and tool bundles that are not shell programs. Each command becomes a separate tool. Every
 * other command line is the tool `bash`, so that statistics are not split by program name.
 */
const INTERFACE_COMMANDS: ReadonlySet<string> = new Set(
  (
    'open goto scroll_up scroll_down create edit insert submit exit_forfeit find_file search_dir search_file ' +
    'search_repo filemap str_replace_editor undo_edit view_image decompile disassemble connect_start ' +
    'connect_sendline connect_exec connect_stop debug_start debug_add_breakpoint debug_continue debug_step ' +
    'debug_exec debug_stop'
  ).split(' '),
);

/** Words that the harness writes in place of an action when it ends a run. */
const HARNESS_EXITS: ReadonlySet<string> = new Set([
  'exit_api',
  'exit_context',
  'exit_cost',
  'exit_error',
  'exit_format',
  'exit_total_execution_time',
  'exit_command_timeout',
  'exit_environment_error',
]);

/**
 * Returns the call of an action line. Undefined for a blank line and for exits by the harness. The arguments are `{command}`
 * with the complete line, without trailing line breaks.
 */
function commandCall(action: string): CallShape | undefined {
  const command = action.replace(/[\r\n]+$/, '');
  const word = /^\s*(\S+)/.exec(command)?.[1];
  if (word === undefined || HARNESS_EXITS.has(command.trim())) return undefined;
  return { name: INTERFACE_COMMANDS.has(word) ? word : 'bash', args: { command } };
}
