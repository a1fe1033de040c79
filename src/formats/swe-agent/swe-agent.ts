import { wordSet } from '../../core/base/word-set.ts';
import {
  type JsonMembers,
  listOf,
  membersOf,
  textOrUndefined,
  isJsonObject,
  numberOrUndefined,
  jsonOf,
  type Json,
  present,
} from '../../core/base/json.ts';
import { diagnosticItem, type ImportItem, type DocumentImporter, type ImportSource } from '../importer.ts';
import {
  sourceStem,
  sourceCall,
  sourceBlocks,
  sourceContent,
  sourceResult,
  sourceTimeMs,
  sourceUsage,
} from '../parts/source-content.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { plainText } from '../parts/object-lines.ts';
import { RunItems, runEnded } from '../parts/run-items.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';

const MAX_OUTCOME_CHARS = 80;

/** A run may be stopped at a limit and then submitted for the agent (`submitted (exit_cost)`): it stopped at the limit. */
function sweAgentOutcome(value: unknown): RunEnded | undefined {
  const info = membersOf(value);
  const status = textOrUndefined(info.exit_status);
  if (status === undefined) return undefined;
  const stats = membersOf(info.model_stats);
  const cost = numberOrUndefined(stats.instance_cost);
  const labels = { exit_status: status, ...present({ cost_usd: cost, api_calls: numberOrUndefined(stats.api_calls) }) };
  const tokens = (numberOrUndefined(stats.tokens_sent) ?? 0) + (numberOrUndefined(stats.tokens_received) ?? 0);
  // A local model costs 0; a harness that does not count writes 0.
  const usage = present({ cost_usd: cost || undefined, tokens: tokens || undefined });
  return { ...runEnded(outcomeOf(status), { labels }), ...(Object.keys(usage).length === 0 ? {} : { usage }) };
}

function outcomeOf(status: string): string {
  if (/exit_(?:cost|context|total_execution_time)|limit|timeout/i.test(status)) return 'limit';
  if (/^submitted/i.test(status)) return 'ended';
  if (/error|exception|exit_api/i.test(status)) return 'error';
  return status.slice(0, MAX_OUTCOME_CHARS);
}

const SEARCHED_AHEAD = 32;

/**
 * Items come from the `trajectory`, else from the `history`, which only adds the first messages and the structured
 * calls. Every step with a non-blank `action` is a call, except the harness' own exits; in a history, every entry of
 * `tool_calls`, or the `action` without them; demonstrations (`is_demo`) do not count. Without `tool_calls`, tool and
 * args come from the command line (`commandCall`). The format has no error flag: the text decides.
 */
function* sweAgentRunItems(document: JsonMembers, id: string): Generator<ImportItem> {
  const steps = listOf(document.trajectory);
  const history = listOf(document.history).map((entry) => membersOf(entry));
  const ownHistory = history.filter((entry) => entry.is_demo !== true);
  const entries = ownHistory.length > 0 ? ownHistory : listOf(membersOf(steps[0]).query).map(membersOf);
  const first = entries.findIndex((entry) => entry.role !== 'system' && entry.role !== 'user');
  const introEntries = first === -1 ? entries : entries.slice(0, first);
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
  else for (const entry of ownHistory.slice(introEntries.length)) yield* entryItems(items, entry, entryCallsOf(entry));
  yield* items.finish(sweAgentOutcome(document.info));
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

/** The message after an answer with calls is their result, even if it has the user's role. */
function* entryItems(items: RunItems, entry: JsonMembers, calls: readonly CallShape[]): Generator<ImportItem> {
  const extra = membersOf(entry.extra);
  const atMs = sourceTimeMs(extra.timestamp) ?? sourceTimeMs(entry.timestamp);
  switch (entry.role) {
    case 'system':
      yield items.message('system', sourceContent(entry.content), atMs);
      break;
    case 'assistant': {
      const parts = calls.map((call) => ({ type: 'call' as const, call }));
      const { model, usage: counts } = membersOf(extra.response);
      const usage = sourceUsage(counts, textOrUndefined(model));
      yield* items.answer({ parts: [...sourceBlocks(entry.content), ...parts], usage }, atMs);
      break;
    }
    case 'tool':
    case 'user':
      if (items.calls.openCount > 0) yield* resultItems(items, entry, atMs);
      else yield items.message('user', sourceContent(entry.content), atMs);
      break;
    case 'exit':
      items.skipped.add('exit messages of the harness');
      break;
    default:
      items.lost.add('messages of unknown role');
  }
}

function* resultItems(items: RunItems, entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
  const result = sourceResult(entry.content);
  const code =
    membersOf(entry.extra).returncode ?? (typeof result === 'string' ? RETURN_CODE.exec(result)?.[1] : undefined);
  const isError = code === undefined || code === null ? undefined : Number(code) !== 0;
  const open = listOf(entry.tool_call_ids).filter((id) => items.calls.isOpen(plainText(id)));
  for (const id of open.length > 0 ? open : [entry.tool_call_id])
    yield* items.result(
      { sourceId: textOrUndefined(id), result, isError, readsAsError: sweAgentRefusal(result) },
      atMs,
    );
}

function entryCallsOf(entry: JsonMembers): readonly CallShape[] {
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

function modelOf(value: unknown): string | undefined {
  const config = typeof value === 'string' ? jsonOf(value) : value;
  return textOrUndefined(membersOf(membersOf(membersOf(config).agent).model).name);
}

/** Matches the beginning of refusals by SWE-agent's own commands. */
const REFUSAL =
  /^\s*(?:Your (?:proposed )?edit (?:has introduced|was NOT applied|could not)|No file open\b|Usage: \w|File \S+ (?:not found|does not exist)|Invalid (?:line number|`\w+` parameter)|Text not found\b|EXECUTION TIMED OUT|Your last command (?:is taking|timed out)|The command '[^\n]{0,200}' was cancelled)/i;

/** True for a refusal by one of SWE-agent's own commands. Otherwise the general signs of a failure decide. */
function sweAgentRefusal(result: Json): true | undefined {
  return typeof result === 'string' && REFUSAL.test(result.slice(0, 400)) ? true : undefined;
}

/** Each command becomes a tool. Every other command line is `bash`, so that statistics are not split by program. */
const INTERFACE_COMMANDS: ReadonlySet<string> = new Set(
  (
    'open goto scroll_up scroll_down create edit insert submit exit_forfeit find_file search_dir search_file ' +
    'search_repo filemap str_replace_editor undo_edit view_image decompile disassemble connect_start ' +
    'connect_sendline connect_exec connect_stop debug_start debug_add_breakpoint debug_continue debug_step ' +
    'debug_exec debug_stop'
  ).split(' '),
);

const HARNESS_EXITS: ReadonlySet<string> = wordSet(
  'exit_api exit_context exit_cost exit_error exit_format exit_total_execution_time exit_command_timeout exit_environment_error',
);

/** Undefined for a blank line and for exits by the harness. */
function commandCall(action: string): CallShape | undefined {
  const command = action.replace(/[\r\n]+$/, '');
  const word = /^\s*(\S+)/.exec(command)?.[1];
  if (word === undefined || HARNESS_EXITS.has(command.trim())) return undefined;
  return { name: INTERFACE_COMMANDS.has(word) ? word : 'bash', args: { command } };
}

/** Matches a command in an answer of the text-based agents. */
const FENCED = /```(?:bash|sh|mswea_bash_command)[^\S\n]*\n([^]*?)\n?```/g;
const SUBMITS = /\becho (?:COMPLETE_TASK_AND_SUBMIT|MINI_SWE_AGENT)_FINAL_OUTPUT\b/;
const RETURN_CODE = /^\s*<returncode>(-?\d+)<\/returncode>/;

/** Its first versions wrote the list of messages alone: a return code answers a fenced command. */
function isMiniTrajectory(document: unknown): boolean {
  const { info, messages, trajectory_format: format } = membersOf(document);
  const list = listOf(messages ?? document)
    .slice(0, LOOKED_AT)
    .map(membersOf);
  const isNamed =
    (typeof format === 'string' && format.startsWith('mini-swe-agent')) || 'mini_version' in membersOf(info);
  return (
    (isNamed && Array.isArray(messages)) ||
    list.some(
      ({ content, role }, at) =>
        role === 'user' &&
        RETURN_CODE.test(plainText(content)) &&
        list[at - 1]?.role === 'assistant' &&
        callsOf(list[at - 1] ?? {}, {}).length === 1,
    )
  );
}

/** Calls are `tool_calls`, `extra.actions` (tool `bash`), or the only `bash` block. A return code is the error flag, else the text. */
function* miniSweAgentItems(document: unknown, id: string): Generator<ImportItem> {
  const messages = listOf(membersOf(document).messages ?? document).map((message) => membersOf(message));
  const info = membersOf(membersOf(document).info);
  const items = new RunItems(id);
  yield items.begin('swe-agent', {
    task: textOrUndefined(sourceResult(messages.find((message) => message.role === 'user')?.content)),
    modelId: textOrUndefined(membersOf(membersOf(info.config).model).model_name),
  });
  for (const message of messages) yield* entryItems(items, message, callsOf(message, membersOf(message.extra)));
  const answer = messages.findLast(({ role }) => role === 'assistant') ?? {};
  const isSubmitted = callsOf(answer, membersOf(answer.extra)).some(({ args }) => SUBMITS.test(plainText(args)));
  yield* items.finish(sweAgentOutcome(info) ?? (isSubmitted ? runEnded('ended') : undefined));
}

function callsOf(message: JsonMembers, extra: JsonMembers): readonly CallShape[] {
  const calls = listOf(message.tool_calls);
  if (calls.length > 0) return calls.map((call) => sourceCall(call));
  const actions = listOf(extra.actions).map((action) => membersOf(action));
  if (actions.length > 0) {
    return actions.map((action) => ({
      sourceId: textOrUndefined(action.tool_call_id),
      name: 'bash',
      args: { command: textOrUndefined(action.command) ?? '' },
    }));
  }
  const text = sourceResult(message.content);
  const blocks = typeof text === 'string' ? [...text.matchAll(FENCED)] : [];
  const [, command] = blocks[0] ?? [];
  return blocks.length === 1 && command !== undefined ? [{ name: 'bash', args: { command } }] : [];
}

const LOOKED_AT = 16;

/** `.traj` with `{trajectory, history, info}`, a `history`, or `{attempts}` (a run each); `.traj.json`. Named after the file. */
export const sweAgentImporter: DocumentImporter = {
  shape: 'document',
  format: 'swe-agent',
  recognise(document) {
    if (isMiniTrajectory(document)) return 1;
    if (!isJsonObject(document)) return 0;
    const attempts = listOf(document.attempts);
    return Math.max(confidenceOf(document), confidenceOf(membersOf(attempts[0])));
  },
  *read(document, source) {
    const root = membersOf(document);
    const id = textOrUndefined(root.instance_id) ?? sourceStem(source.name);
    if (isMiniTrajectory(document)) yield* miniSweAgentItems(document, id);
    else yield* runsOf(root, id, source);
  },
};

function* runsOf(root: JsonMembers, id: string, source: ImportSource): Generator<ImportItem> {
  const attempts = listOf(root.attempts).filter((attempt) => confidenceOf(membersOf(attempt)) > 0);
  if (attempts.length === 0) {
    yield* sweAgentRunItems(root, id);
    return;
  }
  for (const [index, attempt] of attempts.entries()) {
    yield* sweAgentRunItems(membersOf(attempt), `${id}/attempt-${index + 1}`);
  }
  if (confidenceOf(root) > 0) {
    const message = `left out: the chosen attempt that ${source.name} repeats beside its ${attempts.length} attempts`;
    yield diagnosticItem('note', message);
  }
}

function confidenceOf(document: JsonMembers): number {
  const steps = listOf(document.trajectory).slice(0, LOOKED_AT);
  if (steps.length > 0 && steps.every((step) => isStep(step))) return 0.97;
  const history = listOf(document.history).slice(0, LOOKED_AT);
  if (history.length > 0 && history.every((entry) => isHistoryEntry(entry))) return 0.93;
  const hasEnded = textOrUndefined(membersOf(document.info).exit_status) !== undefined;
  // The run failed before its first step.
  return hasEnded && Array.isArray(document.trajectory) && Array.isArray(document.history) ? 0.8 : 0;
}

function isStep(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.action !== 'string') return false;
  return 'observation' in value && ('response' in value || 'thought' in value || 'state' in value);
}

function isHistoryEntry(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.role !== 'string') return false;
  return 'agent' in value || 'message_type' in value || 'action' in value || 'is_demo' in value;
}
