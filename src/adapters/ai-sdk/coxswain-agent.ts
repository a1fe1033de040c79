import { MAX_ADVICE_CHARS } from '../../core/steering/advice/join-advice.ts';
import { checkAdapter, type AdapterOptions } from '../host/adapter-options.ts';
import { guarded } from '../host/guarded.ts';
import type { Run } from '../../core/run/run.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { RunScope } from '../host/run-scope.ts';
import { acknowledgeTool, type AcknowledgeTool } from './acknowledge-tool.ts';
import { AgentLoop } from './agent-loop.ts';
import type { ModelWatch } from './attempt.ts';
import { modelNamed } from './model-named.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';
import { RunLoops } from './run-loops.ts';
import { listenToSdkLoops } from './sdk-loop.ts';
import { watchModel } from './watch-model.ts';
import { watchTools } from './watch-tools.ts';

export interface CoxswainAgentOptions extends AdapterOptions {
  /**
   * If true, guidance at `pre_response` forces one more turn, at most once per run. Streamed answers are buffered until they
   * are complete, until a turn was forced. Default false: such guidance is recorded as undelivered.
   */
  readonly forceTurn?: boolean;
}

/** The settings of the SDK that coxswain watches. */
export interface AgentSettings {
  readonly model: LanguageModelShape | string;
  readonly tools?: object | undefined;
}

/** A run connected to the SDK. */
export interface CoxswainAgent {
  /**
   * Watches model and tools in one call: `generateText({ ...cox.wrap({ model, tools }), prompt })`. Models and tools that
   * `prepareStep` and `prepareCall` return are watched too. Other settings are unchanged.
   */
  wrap<Settings extends AgentSettings>(settings: Settings): Settings;
  /**
   * Returns a watched model for `generateText`, `streamText`, `ToolLoopAgent` or `prepareStep`. A name (string) is resolved to
   * a model as the SDK does. If that fails, the name is returned unchanged and a fault is recorded.
   */
  model<Model extends LanguageModelShape | string>(model: Model): Model;
  /** Returns the tools with watched calls. Results, errors and types are unchanged. */
  tools<Tools extends object>(tools: Tools): Tools;
  /** Returns the tool with which the agent answers advice: `tools: { ...tools, acknowledge_advice: cox.acknowledgeTool() }`. */
  acknowledgeTool(): AcknowledgeTool;
}

const UNSEEN =
  'no request to a model was seen: spread cox.wrap({ model, tools }) into the settings of generateText or streamText';

/**
 * Connects a run to the AI SDK (ai 7 and 6). Records model requests and tool calls, and delivers advice to the model. End the
 * run with `run.end()`. An agent loop inside a tool gets a child run. In ai 7, a concurrent loop also gets a child run.
 *
 * @throws CoxswainError "invalid-argument" for an option out of range
 * Cost: some tens of microseconds per request, plus the evaluation of advice.
 */
export function coxswainAgent(run: Run, options: CoxswainAgentOptions = {}): CoxswainAgent {
  checkAdapter('coxswainAgent', run, options, { forceTurn: true });
  const { maxChars = MAX_ADVICE_CHARS, forceTurn = false } = options;
  const guard = guarded(run, options);
  const scope = new RunScope(() => run);
  const loopOptions = { maxChars, forceTurn };
  const loops = new RunLoops((owner) => new AgentLoop(owner, guard, loopOptions));
  listenToSdkLoops();
  loops.of(run);
  reportUnseen(run, 'ai-sdk', { message: UNSEEN });
  const watchOf = (): ModelWatch => {
    const loop = loops.asking(scope.asking);
    return { loop, guard, ready: async () => await loop.run.ready() };
  };
  const watched = new WeakSet();

  const model = <Model extends LanguageModelShape | string>(original: Model): Model => {
    const modelOrName: LanguageModelShape | string = original;
    const originalModel =
      typeof modelOrName === 'string' ? guard('watching a model', () => modelNamed(modelOrName)) : modelOrName;
    if (originalModel === undefined || watched.has(originalModel)) return original;
    const result = watchModel<LanguageModelShape>(originalModel, watchOf);
    watched.add(result);
    // The SDK accepts a model instead of a name, and the watched model has the original as its prototype.
    return result as Model;
  };
  const tools = <Tools extends object>(original: Tools): Tools => {
    const watch = { scope, loopOf: (id: string) => loops.calling(scope.calling, id), guard, watched };
    return guard('watching tools', () => watchTools(original, watch), original);
  };
  return {
    model,
    tools,
    wrap: (settings) => ({
      ...settings,
      model: model(settings.model),
      ...(settings.tools === undefined ? {} : { tools: tools(settings.tools) }),
      ...watchedSettings(settings, { model, tools }),
    }),
    acknowledgeTool: () => acknowledgeTool(() => loops.calling(scope.calling, '').run),
  };
}

/**
 * Wraps the functions in the settings that may change the model and tools of a step or call. The models and tools that they
 * return are watched.
 */
function watchedSettings(settings: AgentSettings, watch: Pick<CoxswainAgent, 'model' | 'tools'>): object {
  const functions = ['prepareStep', 'prepareCall'].flatMap((name): readonly [string, unknown][] => {
    const value: unknown = Reflect.get(settings, name);
    if (typeof value !== 'function') return [];
    const prepare = async (...args: readonly unknown[]): Promise<unknown> => {
      // Call the function as the SDK does.
      const changes: unknown = await Reflect.apply(value, settings, args);
      if (!isJsonObject(changes)) return changes;
      const { model, tools } = changes;
      return {
        ...changes,
        // These are the SDK's types for a model and for tools.
        ...(model === undefined ? {} : { model: watch.model(model as LanguageModelShape) }),
        ...(isJsonObject(tools) ? { tools: watch.tools(tools) } : {}),
      };
    };
    return [[name, prepare]];
  });
  return Object.fromEntries(functions);
}
