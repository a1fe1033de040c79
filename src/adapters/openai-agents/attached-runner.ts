import type { AgentRuns } from './agent-runs.ts';
import type { RunnerShape } from './sdk-shapes.ts';
import { steeredModel, steeredProvider, type SteeredModelParts } from './steered-model.ts';

/** One steering of a runner. */
export interface Attached {
  readonly runs: AgentRuns;
  readonly models: SteeredModelParts;
}

interface WrappedRunner {
  /** The steerings of the runner, in the order in which they were attached. */
  readonly all: Attached[];
  readonly originalRun: unknown;
  readonly restore: () => void;
}

const WRAPPED = new WeakMap<RunnerShape, WrappedRunner>();

/**
 * A runner is wrapped once, however many steerings it has at the same time. Each of its runs belongs to one steering.
 *
 * @returns a runner whose runs belong to this steering, and a function that detaches the steering
 */
export function attachTo<Runner extends RunnerShape>(
  runner: Runner,
  own: Attached,
): { readonly runner: Runner; readonly detach: () => void } {
  const wrapped = WRAPPED.get(runner) ?? wrapRunner(runner);
  const { all, restore } = wrapped;
  all.push(own);
  WRAPPED.set(runner, wrapped);
  const ownRun = new Proxy(runner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'run') return value.bind(target);
      const run: unknown = WRAPPED.get(target)?.originalRun ?? value;
      // Both are the method of the runner.
      return (...args: unknown[]) => own.runs.loop(args[1], () => Reflect.apply(run as typeof value, target, args));
    },
  });
  return {
    runner: ownRun,
    detach: () => {
      all.splice(all.indexOf(own), 1);
      if (all.length > 0) return;
      restore();
      WRAPPED.delete(runner);
    },
  };
}

function wrapRunner(runner: RunnerShape): WrappedRunner {
  const all: Attached[] = [];
  const latest = (): Attached | undefined => all.findLast(({ runs }) => runs.isOwner);
  const models: SteeredModelParts = {
    prepare: (request, name) => latest()?.models.prepare(request, name),
    guard: <Result>(where: string, work: () => Result, otherwise?: Result) => {
      const guard = (latest() ?? all.at(-1))?.models.guard;
      return guard === undefined ? work() : guard(where, work, otherwise);
    },
  };
  const { config } = runner;
  const { model, modelProvider } = config;
  config.modelProvider = steeredProvider(models, modelProvider);
  if (typeof model === 'object') config.model = steeredModel(models, model);
  const ownProperty = Object.getOwnPropertyDescriptor(runner, 'run');
  const originalRun: unknown = Reflect.get(runner, 'run');
  if (typeof originalRun === 'function') {
    const run = (...args: readonly unknown[]): unknown => {
      const work = (): unknown => Reflect.apply(originalRun, runner, args);
      const runs = latest()?.runs;
      return runs === undefined ? work() : runs.loop(args[1], work);
    };
    Object.defineProperty(runner, 'run', { value: run, configurable: true, writable: true });
  }
  return {
    all,
    originalRun,
    restore: () => {
      config.modelProvider = modelProvider;
      if (model !== undefined) config.model = model;
      if (ownProperty !== undefined) Object.defineProperty(runner, 'run', ownProperty);
      else if (typeof originalRun === 'function') Reflect.deleteProperty(runner, 'run');
    },
  };
}
