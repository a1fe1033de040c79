import { askFirst, standsIn, takeAnswer, withUsage, type AskModel, type Attempt, type ModelWatch } from './attempt.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';
import { watchStream } from './watch-stream.ts';

/**
 * Creates a watched model of the same specification. Requests and answers of the model are reported.
 *
 * @param watchOf  returns the watch of the run that makes the current call
 */
export function watchModel<Model extends LanguageModelShape>(model: Model, watchOf: () => ModelWatch): Model {
  // The SDK made the request for this model, so the model accepts it.
  const generate: AskModel = (request) => model.doGenerate(request as never);
  const stream: AskModel = (request) => model.doStream(request as never);
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
    doGenerate: {
      value: async (options: unknown) => await generateWatched(options, generate, model.modelId, watchOf()),
    },
    doStream: { value: async (options: unknown) => await streamWatched(options, stream, model.modelId, watchOf()) },
  });
  // The original model is the prototype, and the two methods have its signatures.
  return watchedModel as Model;
}

async function generateWatched(options: unknown, ask: AskModel, modelId: string, watch: ModelWatch): Promise<unknown> {
  await watch.ready();
  const prepared = watch.loop.prepare(options, modelId);
  if (prepared === undefined) return await ask(options);
  let attempt: Attempt = { prepared };
  let result = await askFirst(prepared, ask, watch);
  for (;;) {
    const retry = takeAnswer(attempt, result, watch);
    if (retry === undefined) return withUsage(result, attempt);
    try {
      const next = await ask(retry.prepared.request);
      watch.guard('an answer that begins', () => watch.loop.opened(retry.prepared));
      result = next;
    } catch (error) {
      if (standsIn(retry, error, watch)) return withUsage(result, attempt);
      throw error;
    }
    attempt = retry;
  }
}

async function streamWatched(options: unknown, ask: AskModel, modelId: string, watch: ModelWatch): Promise<unknown> {
  await watch.ready();
  const prepared = watch.loop.prepare(options, modelId);
  if (prepared === undefined) return await ask(options);
  const mustBuffer = watch.loop.mayDiscard;
  const result = await askFirst(prepared, ask, watch);
  return watchStream(result, { prepared }, { ...watch, ask, mustBuffer });
}
