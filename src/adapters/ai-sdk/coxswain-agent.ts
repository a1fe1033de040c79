import type { AdapterOptions } from '../../host/adapter-options.ts';
import { guarded } from '../../host/guarded.ts';
import type { Run } from '../../run/run.ts';
import { CoxswainError } from '../../base/error.ts';
import { acknowledgeTool, type AcknowledgeTool } from './acknowledge-tool.ts';
import { AgentLoop } from './agent-loop.ts';
import type { ContextTransform } from './context-transform.ts';
import { checkEscalation, type OutputEscalation } from './output-escalation.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';
import type { ToolGate } from './tool-gate.ts';
import { watchModel } from './watch-model.ts';
import { watchTools } from './watch-tools.ts';

/** How a run is joined to the SDK. Everything that changes more than advice is off until it is named. */
export interface CoxswainAgentOptions extends AdapterOptions {
  /** Change what the model reads, in order; default: none. */
  readonly transforms?: readonly ContextTransform[];
  /** Choose the tools that the model is offered; default: none. */
  readonly gates?: readonly ToolGate[];
  /** Ask again for an answer that the output cap cut off; default: no. A streamed answer is then held back until it is whole. */
  readonly outputEscalation?: OutputEscalation;
  /**
   * Guidance at `pre_response` makes the model answer once more, at most once a run; default false: such guidance is
   * recorded as undelivered. Until it has happened, a streamed answer is held back until it is whole.
   */
  readonly forceTurn?: boolean;
}

/** What the SDK is given, as far as it is watched. */
export interface AgentSettings {
  readonly model: LanguageModelShape | string;
  readonly tools?: object | undefined;
}

/** A run joined to the SDK. */
export interface CoxswainAgent {
  /** Model and tools in one: `generateText({ ...cox.wrap({ model, tools }), prompt })`. Other members stay as they are. */
  wrap<Settings extends AgentSettings>(settings: Settings): Settings;
  /**
   * A model that is watched: for `generateText`, `streamText`, `ToolLoopAgent`, and what `prepareStep` returns. The name
   * of a model (a string) cannot be watched: it stays as it is, and that is recorded as a fault.
   */
  model<Model extends LanguageModelShape | string>(model: Model): Model;
  /** Tools whose calls are watched. Results, errors and types stay what they are. */
  tools<Tools extends object>(tools: Tools): Tools;
  /** The tool with which the agent answers advice: `tools: { ...tools, acknowledge_advice: cox.acknowledgeTool() }`. */
  acknowledgeTool(): AcknowledgeTool;
}

/**
 * Joins a run to the AI SDK (ai 7, and 6): what model and tools do is told to the run, and its advice reaches the model.
 * One loop at a time; end the run with `run.end()` after it.
 *
 * @throws CoxswainError "invalid-argument" for an option outside its range, or two plugins of one kind with one name
 * Cost: some tens of microseconds a request, plus what the run's own steering costs.
 */
export function coxswainAgent(run: Run, options: CoxswainAgentOptions = {}): CoxswainAgent {
  const { gates = [], transforms = [], maxChars = 9_000, forceTurn = false, outputEscalation } = options;
  checkNames('tool gates', gates);
  checkNames('context transforms', transforms);
  const escalation = outputEscalation === undefined ? undefined : checkEscalation(outputEscalation);
  const guard = guarded(run, options);
  const loop = new AgentLoop(run, guard, { maxChars, gates, transforms, escalation, forceTurn });
  run.beforeEnd(() => loop.closing());
  const watch = { loop, guard, ready: async () => await run.ready() };
  const watched = new WeakSet();

  const model = <Model extends LanguageModelShape | string>(given: Model): Model => {
    if (typeof given === 'string') {
      const error = new CoxswainError(
        'invalid-argument',
        `model "${given}" is a name: give the model itself, gateway("${given}")`,
      );
      return guard('watching a model', () => rethrow(error), given);
    }
    if (watched.has(given)) return given;
    const result = watchModel<LanguageModelShape>(given, watch);
    watched.add(result);
    // No name, and the watched model has the given one as its prototype.
    return result as Model;
  };
  const tools = <Tools extends object>(given: Tools): Tools =>
    guard('watching tools', () => watchTools(given, { calls: loop.calls, guard, watched }), given);
  return {
    model,
    tools,
    wrap: (settings) => ({
      ...settings,
      model: model(settings.model),
      ...(settings.tools === undefined ? {} : { tools: tools(settings.tools) }),
    }),
    acknowledgeTool: () => acknowledgeTool(run),
  };
}

function checkNames(what: string, plugins: readonly { readonly name: string }[]): void {
  const names = plugins.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new CoxswainError('invalid-argument', `two ${what} are named "${twice}": give each its own name`, {
    details: { name: twice },
  });
}

function rethrow(error: unknown): never {
  throw error;
}
