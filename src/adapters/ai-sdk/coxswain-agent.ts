import { AsyncLocalStorage } from 'node:async_hooks';
import { MAX_ADVICE_CHARS } from '../../core/steering/advice/advice.ts';
import { checkAdapter, currentRun, type RefusalOptions, type RunSource } from '../host/adapter-options.ts';
import { guarded } from '../host/guarded.ts';
import type { Run } from '../../core/run/run.ts';
import { isJsonObject, present } from '../../core/base/json.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { RunScope } from '../host/run-scope.ts';
import { AgentLoop } from './agent-loop.ts';
import { askModel, takeAnswer, type AskModel, type ModelWatch } from './attempt.ts';
import { type LanguageModelShape, textField } from './sdk-shapes.ts';
import { watchTools } from './watch-tools.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { watchStream } from './watch-stream.ts';
import {
  acknowledgeToolDefinition,
  readAdviceAnswer,
  type AdviceAnswer,
} from '../../core/steering/feedback/acknowledge.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';

class SdkLoop {
  readonly functionId: string;
  readonly #onEnd: (() => void)[] = [];
  #isOver = false;

  constructor(functionId: string) {
    this.functionId = functionId;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  end(): void {
    this.#isOver = true;
    for (const listener of this.#onEnd.splice(0)) listener();
  }
}

const LOOPS: ReadonlySet<unknown> = new Set(['generateText', 'streamText']);

const storage = new AsyncLocalStorage<{ readonly loop: SdkLoop | undefined }>();
const sdkLoops = new Map<string, SdkLoop>();
let isListening = false;

/** From the diagnostics channel `ai:telemetry` of ai 7. Undefined outside of loops, in ai 6, and without telemetry. */
function sdkLoop(): SdkLoop | undefined {
  return storage.getStore()?.loop;
}

function listenToSdkLoops(): void {
  if (isListening) return;
  isListening = true;
  // Loaded on demand: some runtimes lack this module.
  const diagnostics = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
  const channel = diagnostics?.tracingChannel('ai:telemetry');
  channel?.start.bindStore(storage, (message) => ({ loop: loopOf(message) ?? sdkLoop() }));
  channel?.asyncEnd.subscribe((message) => {
    if (!isJsonObject(message) || !LOOPS.has(message['type'])) return;
    const callId = callIdOf(message);
    const loop = sdkLoops.get(callId);
    sdkLoops.delete(callId);
    loop?.end();
  });
}

function loopOf(message: unknown): SdkLoop | undefined {
  if (!isJsonObject(message)) return undefined;
  const callId = callIdOf(message);
  if (LOOPS.has(message['type']) && !sdkLoops.has(callId)) {
    const { event } = message;
    sdkLoops.set(callId, new SdkLoop(isJsonObject(event) ? textField(event, 'functionId') : ''));
  }
  return sdkLoops.get(callId);
}

function callIdOf({ event }: Readonly<Record<string, unknown>>): string {
  return isJsonObject(event) ? textField(event, 'callId') : '';
}

interface Loops {
  readonly own: AgentLoop;
  readonly open: Map<SdkLoop, AgentLoop>;
}

/** A run has one loop at a time: a concurrent one gets a child run until the SDK reports its end. */
class RunLoops {
  readonly #newLoop: (run: Run) => AgentLoop;
  readonly #ofRun = new WeakMap<Run, Loops>();

  constructor(newLoop: (run: Run) => AgentLoop) {
    this.#newLoop = newLoop;
  }

  asking(run: Run): AgentLoop {
    const { open, own } = this.of(run);
    const sdk = sdkLoop();
    if (sdk === undefined) return own;
    const openLoop = open.get(sdk);
    if (openLoop !== undefined) return openLoop;
    const isBusy = [...open.values()].includes(own);
    const loop = isBusy ? this.#childLoop(run, sdk) : own;
    open.set(sdk, loop);
    sdk.onEnd(() => open.delete(sdk));
    return loop;
  }

  calling(run: Run, callId: string): AgentLoop {
    const { open, own } = this.of(run);
    const sdk = sdkLoop();
    const openLoop = sdk === undefined ? undefined : open.get(sdk);
    // The SDK builds some results outside its loop.
    return openLoop ?? [...open.values()].find(({ calls }) => calls.has(callId)) ?? own;
  }

  of(run: Run): Loops {
    const knownLoop = this.#ofRun.get(run);
    if (knownLoop !== undefined) return knownLoop;
    const loops = { own: this.#newLoop(run), open: new Map<SdkLoop, AgentLoop>() };
    this.#ofRun.set(run, loops);
    run.beforeEnd(() => loops.own.closing());
    return loops;
  }

  #childLoop(run: Run, sdk: SdkLoop): AgentLoop {
    const child = run.child(sdk.functionId === '' ? {} : { agentName: sdk.functionId });
    const endChild = (): undefined => {
      if (!child.isEnded) child.emit({ type: 'agent_end' });
    };
    sdk.onEnd(endChild);
    run.beforeEnd(endChild);
    return this.of(child).own;
  }
}

export interface AgentSettings {
  readonly model: LanguageModelShape | string;
  readonly tools?: object | undefined;
}

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
 * @param source  the run, or a function that returns the run of the current request, for an agent that outlives its runs
 * @throws CoxswainError "invalid-argument" for an option out of range
 * Cost: some tens of microseconds per request, plus the evaluation of advice.
 */
export function coxswainAgent(source: RunSource, options: RefusalOptions = {}): CoxswainAgent {
  checkAdapter('coxswainAgent', source, options, { isError: true, isRefused: true });
  const { maxChars = MAX_ADVICE_CHARS } = options;
  const guard = guarded(source, options);
  const scope = new RunScope(currentRun('ai-sdk', source));
  const loopOptions = { maxChars, ...present({ isError: options.isError, isRefused: options.isRefused }) };
  const loops = new RunLoops((owner) => new AgentLoop(owner, guard, loopOptions));
  listenToSdkLoops();
  if (typeof source !== 'function') {
    loops.of(source);
    reportUnseen(source, 'ai-sdk', { message: UNSEEN });
  }
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

/** The models and tools that these functions return for a step or call are watched too. */
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

/** From the user's default provider, else the gateway of the package `ai`. Throws CoxswainError "invalid-argument". */
function modelNamed(name: string): LanguageModelShape {
  const provider: unknown = Reflect.get(globalThis, 'AI_SDK_DEFAULT_PROVIDER') ?? gatewayModule();
  const model: unknown = isProvider(provider) ? provider.languageModel(name) : undefined;
  // The provider is a global of the SDK, so its answer is checked.
  if (isJsonObject(model) && typeof model['modelId'] === 'string') return model as unknown as LanguageModelShape;
  const message = `no model was found for the name "${name}": give the model itself, gateway("${name}")`;
  throw invalidArgument(message);
}

function gatewayModule(): unknown {
  try {
    const { createRequire } = process.getBuiltinModule('node:module');
    const sdk: unknown = createRequire(`${process.cwd()}/package.json`)('ai');
    return isJsonObject(sdk) ? sdk['gateway'] : undefined;
  } catch {
    // The package is not installed. The caller's error tells the user what to do.
    return undefined;
  }
}

function isProvider(value: unknown): value is { languageModel(name: string): unknown } {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return 'languageModel' in value && typeof value.languageModel === 'function';
}

/** The watched model has the same specification. `watchOf`: the watch of the run that makes the current call. */
function watchModel<Model extends LanguageModelShape>(model: Model, watchOf: () => ModelWatch): Model {
  // The SDK made the request for this model, so the model accepts it.
  const generate: AskModel = (request) => model.doGenerate(request as never);
  const stream: AskModel = (request) => model.doStream(request as never);
  const askWatched = async (options: unknown, ask: AskModel, read: typeof watchStream): Promise<unknown> => {
    const watch = watchOf();
    await watch.ready();
    const prepared = watch.loop.prepare(options, model.modelId);
    return prepared === undefined ? await ask(options) : read(await askModel(prepared, ask, watch), prepared, watch);
  };
  // Getters are called on the original model, because a getter may need it as `this`.
  const fieldDescriptor = (name: string): PropertyDescriptor => ({
    get: (): unknown => Reflect.get(model, name),
    enumerable: true,
  });
  const watchedModel: unknown = Object.create(model, {
    specificationVersion: fieldDescriptor('specificationVersion'),
    provider: fieldDescriptor('provider'),
    modelId: fieldDescriptor('modelId'),
    supportedUrls: fieldDescriptor('supportedUrls'),
    doGenerate: { value: (options: unknown) => askWatched(options, generate, readWhole) },
    doStream: { value: (options: unknown) => askWatched(options, stream, watchStream) },
  });
  // The original model is the prototype, and the two methods have its signatures.
  return watchedModel as Model;
}

const readWhole: typeof watchStream = (result, prepared, watch) => {
  takeAnswer(prepared, result, watch);
  return result;
};

/** A schema in the Standard Schema format, which the SDK accepts as `inputSchema`. */
export interface AnswerSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'coxswain';
    readonly validate: (
      value: unknown,
    ) => { readonly value: AdviceAnswer } | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: AdviceAnswer };
  };
}

/** The tool with which an agent answers advice. Pass it in the SDK's `tools`. */
export interface AcknowledgeTool {
  readonly description: string;
  readonly inputSchema: AnswerSchema;
  readonly execute: (answer: AdviceAnswer) => string;
}

/** The result tells the model that the answer was recorded, or why it was not. */
function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { description, inputSchema } = acknowledgeToolDefinition;
  const jsonSchema = (): Record<string, unknown> => structuredClone({ ...inputSchema });
  return {
    description,
    inputSchema: {
      '~standard': {
        version: 1,
        vendor: 'coxswain',
        validate: (value) => {
          const answer = readAdviceAnswer(value);
          return typeof answer === 'string' ? { issues: [{ message: answer }] } : { value: answer };
        },
        jsonSchema: { input: jsonSchema, output: jsonSchema },
      },
    },
    execute: (answer) => answerAcknowledgement(run(), answer),
  };
}
