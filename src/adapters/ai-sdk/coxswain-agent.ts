import type { AdapterOptions } from '../../host/adapter-options.ts';
import { guarded } from '../../host/guarded.ts';
import type { Run } from '../../run/run.ts';
import { CoxswainError } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import { RunScope } from '../../host/run-scope.ts';
import { acknowledgeTool, type AcknowledgeTool } from './acknowledge-tool.ts';
import { AgentLoop } from './agent-loop.ts';
import type { ModelWatch } from './attempt.ts';
import type { ContextTransform } from './context-transform.ts';
import { checkEscalation, type OutputEscalation } from './output-escalation.ts';
import { modelNamed } from './model-named.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';
import type { ToolGate } from './tool-gate.ts';
import { RunLoops } from './run-loops.ts';
import { listenToSdkLoops } from './sdk-loop.ts';
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
  /**
   * Model and tools in one: `generateText({ ...cox.wrap({ model, tools }), prompt })`. The models and tools that `prepareStep` and
   * `prepareCall` return are watched too. Other members stay as they are.
   */
  wrap<Settings extends AgentSettings>(settings: Settings): Settings;
  /**
   * A model that is watched: for `generateText`, `streamText`, `ToolLoopAgent`, and what `prepareStep` returns. A name (a
   * string) becomes the model that the SDK would find for it; where none is found it stays a name, with a fault.
   */
  model<Model extends LanguageModelShape | string>(model: Model): Model;
  /** Tools whose calls are watched. Results, errors and types stay what they are. */
  tools<Tools extends object>(tools: Tools): Tools;
  /** The tool with which the agent answers advice: `tools: { ...tools, acknowledge_advice: cox.acknowledgeTool() }`. */
  acknowledgeTool(): AcknowledgeTool;
}

/**
 * Joins a run to the AI SDK (ai 7, and 6): what model and tools do is told to the run, and its advice reaches the model.
 * End the run with `run.end()`. A loop within a tool has a child run, and so has, in ai 7, one that begins while another is at work.
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
  const scope = new RunScope(() => run);
  const loopOptions = { maxChars, gates, transforms, escalation, forceTurn };
  const loops = new RunLoops((owner) => new AgentLoop(owner, guard, loopOptions));
  listenToSdkLoops();
  loops.of(run);
  const watchOf = (): ModelWatch => {
    const loop = loops.asking(scope.asking);
    return { loop, guard, ready: async () => await loop.run.ready() };
  };
  const watched = new WeakSet();

  const model = <Model extends LanguageModelShape | string>(given: Model): Model => {
    const named: LanguageModelShape | string = given;
    const found = typeof named === 'string' ? guard('watching a model', () => modelNamed(named), undefined) : named;
    if (found === undefined || watched.has(found)) return given;
    const result = watchModel<LanguageModelShape>(found, watchOf);
    watched.add(result);
    // The SDK takes a model in the place of a name, and the watched model has the given one as its prototype.
    return result as Model;
  };
  const tools = <Tools extends object>(given: Tools): Tools => {
    const watch = { scope, loopOf: (id: string) => loops.calling(scope.calling, id), guard, watched };
    return guard('watching tools', () => watchTools(given, watch), given);
  };
  return {
    model,
    tools,
    wrap: (settings) => ({
      ...settings,
      model: model(settings.model),
      ...(settings.tools === undefined ? {} : { tools: tools(settings.tools) }),
      ...prepared(settings, { model, tools }),
    }),
    acknowledgeTool: () => acknowledgeTool(() => loops.calling(scope.calling, '').run),
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

/** The functions of the settings that may change model and tools of a step or a call, with what they give watched. */
function prepared(settings: AgentSettings, watch: Pick<CoxswainAgent, 'model' | 'tools'>): object {
  const functions = ['prepareStep', 'prepareCall'].flatMap((name): readonly [string, unknown][] => {
    const own: unknown = Reflect.get(settings, name);
    if (typeof own !== 'function') return [];
    const prepare = async (...args: readonly unknown[]): Promise<unknown> => {
      // Called as the SDK calls it.
      const changes: unknown = await Reflect.apply(own, settings, args);
      if (!isJsonObject(changes)) return changes;
      const { model, tools } = changes;
      return {
        ...changes,
        // What the SDK takes as a model or as tools.
        ...(model === undefined ? {} : { model: watch.model(model as LanguageModelShape) }),
        ...(isJsonObject(tools) ? { tools: watch.tools(tools) } : {}),
      };
    };
    return [[name, prepare]];
  });
  return Object.fromEntries(functions);
}
