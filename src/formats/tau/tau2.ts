import { type JsonMembers, membersOf, listOf, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import { diagnosticItem, type ImportItem, type DocumentImporter } from '../importer.ts';
import { chatMessageItems, firstUserText } from '../openai-chat/openai-chat-messages.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { SkipCounts, UniqueNames } from '../parts/skip-counts.ts';
import { asJson, sourceResult, sourceStem, sourceTimeMs, sourceCall } from '../parts/source-content.ts';
import { plainText } from '../parts/object-lines.ts';

const LOOKED_AT = 8;

/** `{task_id, trial, reward, info, traj}`, one or a list: runs `task-<task_id>-trial-<trial>`; reward 1 succeeded. */
export const tauBenchImporter: DocumentImporter = {
  shape: 'document',
  format: 'tau-bench',
  recognise(document) {
    const entries = (Array.isArray(document) ? (document as readonly unknown[]) : [document]).slice(0, LOOKED_AT);
    if (!isEpisode(entries[0])) return 0;
    const share = entries.filter((entry) => isEpisode(entry)).length / entries.length;
    return share * (Array.isArray(document) ? 0.97 : 0.9);
  },
  *read(document) {
    const ids = new UniqueNames();
    const skipCounts = new SkipCounts();
    for (const episode of Array.isArray(document) ? (document as readonly unknown[]) : [document]) {
      if (isEpisode(episode)) yield* episodeItems(episode, ids);
      else skipCounts.add('entries without a traj list');
    }
    yield* skipCounts.report('error');
  },
};

function isEpisode(value: unknown): value is JsonMembers & { readonly traj: readonly unknown[] } {
  return isJsonObject(value) && Array.isArray(value.traj) && ('reward' in value || 'task_id' in value);
}

function* episodeItems(
  episode: JsonMembers & { readonly traj: readonly unknown[] },
  ids: UniqueNames,
): Generator<ImportItem> {
  const id = ids.take(`task-${numberText(episode.task_id)}-trial-${numberText(episode.trial)}`);
  const info = membersOf(episode.info);
  const writer = new RunItems(id);
  const instruction = textOrUndefined(membersOf(info.task).instruction);
  yield writer.begin('tau-bench', { task: instruction ?? firstUserText(episode.traj) });
  for (const message of episode.traj) yield* chatMessageItems(writer, message, { readsAsError: beginsWithError });
  yield* writer.finish(benchOutcomeOf(episode, info));
}

/** Returns true for a failed call. tau-bench's tools have no error flag, but the result of a failed call begins with `Error`. */
function beginsWithError(message: JsonMembers): boolean {
  return typeof message.content === 'string' && message.content.startsWith('Error');
}

function benchOutcomeOf(episode: JsonMembers, info: JsonMembers): RunEnded | undefined {
  const { reward } = episode;
  if (typeof reward !== 'number') return undefined;
  // An episode that crashed has the exception in `info.error` and an empty `traj`.
  return runEnded(typeof info.error === 'string' ? 'error' : 'ended', { success: reward === 1, reward });
}

function numberText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '0';
}

/**
 * A `results.json` with its `simulations`, or one simulation, in the message form or the full-duplex form with ticks. A
 * results file without simulations gives a diagnostic. The simulated user's tool calls are skipped: the agent neither
 * issues nor sees them.
 */
export const tau2Importer: DocumentImporter = {
  shape: 'document',
  format: 'tau2',
  recognise(document) {
    if (!isJsonObject(document)) return 0;
    if (Array.isArray(document.simulations)) return document.simulations.some(isSimulation) ? 0.97 : 0.7;
    if (isSimulation(document)) return Array.isArray(document.ticks) ? 0.97 : 0.95;
    return isResultsIndex(document) ? 0.8 : 0;
  },
  *read(document, source) {
    if (!isJsonObject(document)) return;
    const ids = new UniqueNames();
    if (isSimulation(document)) {
      yield* simulationItems(document, ids.take(textOrUndefined(document.id) ?? sourceStem(source.name)), {});
      return;
    }
    const simulations = listOf(document.simulations);
    if (simulations.length === 0) {
      const message = 'a results file without simulations: its runs are in separate files (simulations/*.json)';
      yield diagnosticItem('note', message);
      return;
    }
    const context = { info: document.info, tasks: taskTexts(document.tasks) };
    const skipCounts = new SkipCounts();
    for (const [index, simulation] of simulations.entries()) {
      if (isSimulation(simulation)) {
        const id = ids.take(textOrUndefined(simulation.id) ?? `simulation-${index + 1}`);
        yield* simulationItems(simulation, id, context);
      } else skipCounts.add('simulations without messages and ticks');
    }
    yield* skipCounts.report('error');
  },
};

function isSimulation(value: unknown): value is JsonMembers & { readonly task_id: unknown } {
  if (!isJsonObject(value) || !(Array.isArray(value.messages) || Array.isArray(value.ticks))) return false;
  return 'task_id' in value && ('termination_reason' in value || 'reward_info' in value || Array.isArray(value.ticks));
}

function isResultsIndex(document: JsonMembers): boolean {
  return Array.isArray(document.tasks) && isJsonObject(document.info) && isJsonObject(document.info.environment_info);
}

interface ResultsContext {
  readonly info?: unknown;
  readonly tasks?: ReadonlyMap<string, string>;
}

function* simulationItems(simulation: JsonMembers, id: string, context: ResultsContext): Generator<ImportItem> {
  const messages = listOf(simulation.messages);
  const ticks = listOf(simulation.ticks);
  const agent = membersOf(membersOf(context.info).agent_info);
  const writer = new RunItems(id);
  yield writer.begin('tau2', {
    task: context.tasks?.get(plainText(simulation.task_id)) ?? firstUserText(messages),
    modelId: textOrUndefined(agent.llm),
    agentName: textOrUndefined(agent.implementation),
    startedAtMs: sourceTimeMs(simulation.start_time),
  });
  if (messages.length > 0 || ticks.length === 0) {
    const isUsersTool = ({ requestor }: JsonMembers): boolean => requestor === 'user';
    for (const message of messages) {
      yield* chatMessageItems(writer, message, { errorFlag, isUsersTool });
    }
  } else {
    yield* tau2TickItems(writer, ticks);
  }
  yield* writer.finish(outcomeOf(simulation), sourceTimeMs(simulation.end_time));
}

/** Returns the error flag. tau2's tool messages have the field `error`. Older files omit it, and the text then decides. */
function errorFlag(message: JsonMembers): boolean | undefined {
  return typeof message.error === 'boolean' ? message.error : undefined;
}

function outcomeOf(simulation: JsonMembers): RunEnded | undefined {
  const rewardInfo = membersOf(simulation.reward_info);
  const reward = typeof rewardInfo.reward === 'number' ? rewardInfo.reward : undefined;
  const reason = textOrUndefined(simulation.termination_reason);
  if (reward === undefined && reason === undefined) return undefined;
  return runEnded(reason ?? 'ended', {
    success: reward === undefined ? undefined : reward === 1,
    reward,
    labels: { task_id: asJson(simulation.task_id), trial: asJson(simulation.trial) },
  });
}

/** Returns the reason for the simulated user's call, by task id. It is the closest that tau2 has to a task. */
function taskTexts(tasks: unknown): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const task of listOf(tasks)) {
    const { id, user_scenario: scenario } = membersOf(task);
    const { instructions } = membersOf(scenario);
    const reason = isJsonObject(instructions) ? instructions.reason_for_call : instructions;
    if (typeof reason === 'string') texts.set(plainText(id), reason);
  }
  return texts;
}

interface Utterance {
  text: string;
  atMs: number | undefined;
}

/** Both sides may say part of an utterance in every tick. A message ends when its speaker is silent or calls tools. */
function* tau2TickItems(writer: RunItems, ticks: readonly unknown[]): Generator<ImportItem> {
  const agent: Utterance = { text: '', atMs: undefined };
  const user: Utterance = { text: '', atMs: undefined };
  for (const tick of ticks) {
    if (!isJsonObject(tick)) {
      writer.lost.add('ticks that are not objects');
      continue;
    }
    const atMs = sourceTimeMs(tick.timestamp);
    // They are next to the chunk of the tick. In some files they are also, or only, inside it.
    const agentCalls = listOf(tick.agent_tool_calls);
    const calls = agentCalls.length > 0 ? agentCalls : listOf(membersOf(tick.agent_chunk).tool_calls);
    const results = listOf(tick.agent_tool_results);
    const agentSpeaks = addChunk(agent, tick.agent_chunk, atMs);
    const userSpeaks = addChunk(user, tick.user_chunk, atMs);
    if (!userSpeaks && user.text !== '') yield writer.message('user', takeText(user), user.atMs);
    if (calls.length > 0) {
      const parts = calls.map((call) => ({ type: 'call', call: sourceCall(call) }) as const);
      const text = takeText(agent);
      yield* writer.answer({ parts: text === '' ? parts : [{ type: 'text', text }, ...parts] }, atMs);
    } else if (!agentSpeaks && agent.text !== '') {
      yield* writer.answer({ parts: [{ type: 'text', text: takeText(agent) }] }, agent.atMs);
    }
    for (const result of results) yield* resultItems(writer, result, atMs);
    countLeftOut(writer, tick, calls.length + results.length);
  }
  if (user.text !== '') yield writer.message('user', takeText(user), user.atMs);
  if (agent.text !== '') yield* writer.answer({ parts: [{ type: 'text', text: takeText(agent) }] }, agent.atMs);
}

/** Adds the text of a chunk to the utterance. Returns false if its speaker is silent in this tick. */
function addChunk(utterance: Utterance, chunk: unknown, atMs: number | undefined): boolean {
  if (!isJsonObject(chunk)) return false;
  // Audio chunks contain base64 data instead of text.
  const text = chunk.is_audio === true ? undefined : textOrUndefined(chunk.content);
  if (text !== undefined) {
    if (utterance.text === '') utterance.atMs = atMs;
    utterance.text += text;
  }
  return text !== undefined || chunk.contains_speech === true;
}

function takeText(utterance: Utterance): string {
  const { text } = utterance;
  utterance.text = '';
  return text;
}

function* resultItems(writer: RunItems, result: unknown, atMs: number | undefined): Generator<ImportItem> {
  if (!isJsonObject(result)) {
    writer.lost.add('tool results that are not objects');
    return;
  }
  yield* writer.result(
    { sourceId: textOrUndefined(result.id), result: sourceResult(result.content), isError: errorFlag(result) },
    sourceTimeMs(result.timestamp) ?? atMs,
  );
}

function countLeftOut(writer: RunItems, tick: JsonMembers, agentToolEvents: number): void {
  for (const _ of listOf(tick.user_tool_calls)) writer.skipped.add('tool calls of the simulated user');
  const hasText = [tick.agent_chunk, tick.user_chunk].some(
    (chunk) => isJsonObject(chunk) && chunk.is_audio !== true && textOrUndefined(chunk.content) !== undefined,
  );
  if (!hasText && agentToolEvents === 0) writer.skipped.add('ticks without text or calls');
}
