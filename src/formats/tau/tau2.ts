import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter } from '../importer.ts';
import { chatMessageItems, firstUserText } from '../openai-chat/openai-chat-messages.ts';
import { RunItems } from '../parts/run-items.ts';
import { asJson, textOrUndefined } from '../parts/source-content.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { tau2TickItems } from './tau2-ticks.ts';
import { UniqueNames } from '../parts/unique-names.ts';
import { plainText } from '../parts/plain-text.ts';

type JsonMembers = Readonly<Record<string, unknown>>;

/**
 * Reads tau2-bench: a `results.json` with its `simulations`, or one simulation file, in the message form or the
 * full-duplex form of ticks. Each simulation is a run under its own id. A results file whose simulations lie in
 * files of their own holds no run; a diagnostic says so. The simulated user's own tool calls are left out: the
 * agent neither issues nor sees them.
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
    const simulations: readonly unknown[] = Array.isArray(document.simulations) ? document.simulations : [];
    if (simulations.length === 0) {
      const message = 'a results file without simulations: its runs lie in files of their own (simulations/*.json)';
      yield { type: 'diagnostic', diagnostic: { severity: 'note', message } };
      return;
    }
    const context = { info: document.info, tasks: taskTexts(document.tasks) };
    let unusable = 0;
    for (const [index, simulation] of simulations.entries()) {
      if (!isSimulation(simulation)) unusable += 1;
      else
        yield* simulationItems(
          simulation,
          ids.take(textOrUndefined(simulation.id) ?? `simulation-${index + 1}`),
          context,
        );
    }
    if (unusable > 0) {
      const message = `not usable: ${unusable} simulations without messages and ticks`;
      yield { type: 'diagnostic', diagnostic: { severity: 'error', message } };
    }
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
  /** What each task asks for, by task id. */
  readonly tasks?: ReadonlyMap<string, string>;
}

function* simulationItems(simulation: JsonMembers, id: string, context: ResultsContext): Generator<ImportItem> {
  const messages: readonly unknown[] = Array.isArray(simulation.messages) ? simulation.messages : [];
  const ticks: readonly unknown[] = Array.isArray(simulation.ticks) ? simulation.ticks : [];
  const task = context.tasks?.get(plainText(simulation.task_id)) ?? firstUserText(messages);
  const agent = isJsonObject(context.info) && isJsonObject(context.info.agent_info) ? context.info.agent_info : {};
  const modelId = textOrUndefined(agent.llm);
  const agentName = textOrUndefined(agent.implementation);
  const startedAtMs = sourceTimeMs(simulation.start_time);
  yield {
    type: 'run',
    run: {
      key: id,
      id,
      format: 'tau2',
      ...present({ task, modelId, agentName, startedAtMs }),
    },
  };
  const writer = new RunItems(id);
  if (messages.length > 0 || ticks.length === 0) {
    for (const message of messages) {
      yield* chatMessageItems(writer, message, { errorFlag, isUsersTool });
    }
  } else {
    yield* tau2TickItems(writer, ticks);
  }
  yield* writer.finish(outcomeOf(simulation), sourceTimeMs(simulation.end_time));
}

/** tau2's tool messages carry `error`; older files leave it out, then the text decides. */
function errorFlag(message: JsonMembers): boolean | undefined {
  return typeof message.error === 'boolean' ? message.error : undefined;
}

function isUsersTool(message: JsonMembers): boolean {
  return message.requestor === 'user';
}

function outcomeOf(simulation: JsonMembers): RunEnded | undefined {
  const rewardInfo = isJsonObject(simulation.reward_info) ? simulation.reward_info : {};
  const reward = typeof rewardInfo.reward === 'number' ? rewardInfo.reward : undefined;
  const reason = textOrUndefined(simulation.termination_reason);
  if (reward === undefined && reason === undefined) return undefined;
  return {
    kind: 'run_ended',
    outcome: reason ?? 'ended',
    new_messages: [],
    ...(reward === undefined ? {} : { success: reward === 1, reward }),
    labels: { task_id: asJson(simulation.task_id), trial: asJson(simulation.trial) },
  };
}

/** Why the simulated user calls, by task id: the nearest that tau2 has to a task. */
function taskTexts(tasks: unknown): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const task of Array.isArray(tasks) ? (tasks as readonly unknown[]) : []) {
    const scenario = isJsonObject(task) && isJsonObject(task.user_scenario) ? task.user_scenario : {};
    const { instructions } = scenario;
    const reason = isJsonObject(instructions) ? instructions.reason_for_call : instructions;
    if (isJsonObject(task) && typeof reason === 'string') texts.set(plainText(task.id), reason);
  }
  return texts;
}
