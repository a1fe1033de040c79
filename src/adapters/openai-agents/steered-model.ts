import type { OutgoingRequest } from '../host/advice-under-way.ts';
import type { Conversation } from '../host/conversation.ts';
import type { Guard } from '../host/guarded.ts';
import { troubleOf } from '../host/run-outcome.ts';
import type { Model, ModelProvider, ModelRequest } from './sdk-shapes.ts';
import { answerOf, deltaOf, doneResponseOf, unrecognisedEvent } from './to-events.ts';

export interface SteeredRequest {
  readonly conversation: Conversation;
  readonly outgoing: OutgoingRequest;
  readonly request: ModelRequest;
  readonly channel: string;
}

export interface SteeredModelParts {
  /** Prepares a request. Undefined if the request has an unknown shape. */
  readonly prepare: (request: ModelRequest, modelId: string | undefined) => SteeredRequest | undefined;
  readonly guard: Guard;
}

interface OpenModel {
  getResponse(request: ModelRequest): Promise<unknown>;
  getStreamedResponse(request: ModelRequest): AsyncIterable<unknown>;
}

const STEERED = new WeakMap<object, SteeredModelParts>();

/** True for a model made by `steeredModel` with the same parts. */
export function isSteered(parts: SteeredModelParts, model: unknown): boolean {
  return typeof model === 'object' && model !== null && STEERED.get(model) === parts;
}

/** Reports a request before it is sent and an answer before the SDK receives it. Other members and errors are the original's. */
export function steeredModel<Wrapped extends Model>(parts: SteeredModelParts, model: Wrapped, name?: string): Wrapped {
  if (isSteered(parts, model)) return model;
  // The two methods use the SDK's own request type, which `Model` does not define.
  const inner = model as unknown as OpenModel;
  const ownMethods: OpenModel = {
    getResponse: (request) => getSteeredResponse(parts, inner, { request, name }),
    getStreamedResponse: (request) => streamSteered(parts, inner, { request, name }),
  };
  const steeredProxy = new Proxy(model, {
    get(target, key) {
      if (key === 'getResponse' || key === 'getStreamedResponse') return ownMethods[key];
      const value: unknown = Reflect.get(target, key, target);
      // Bind methods to the original model, because only that object has the private members.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  STEERED.set(steeredProxy, parts);
  return steeredProxy;
}

export function steeredProvider<Provider extends ModelProvider>(
  parts: SteeredModelParts,
  provider: Provider,
): Provider {
  return new Proxy(provider, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key !== 'getModel') return typeof value === 'function' ? value.bind(target) : value;
      return (name?: string): Model | Promise<Model> => {
        const foundModel = target.getModel(name);
        const wrapModel = (model: Model): Model =>
          parts.guard('openai-agents model', () => steeredModel(parts, model, name), model);
        return foundModel instanceof Promise ? foundModel.then(wrapModel) : wrapModel(foundModel);
      };
    },
  });
}

interface ModelCall {
  readonly request: ModelRequest;
  readonly name: string | undefined;
}

async function getSteeredResponse(
  parts: SteeredModelParts,
  model: OpenModel,
  { request, name }: ModelCall,
): Promise<unknown> {
  const { guard } = parts;
  const steeredRequest = guard('openai-agents request', () => parts.prepare(request, name));
  if (steeredRequest === undefined) return await model.getResponse(request);
  const { conversation, outgoing, channel } = steeredRequest;
  await conversation.run.ready();
  let response: unknown;
  try {
    response = await model.getResponse(steeredRequest.request);
  } catch (error) {
    guard('openai-agents request', () => outgoing.failed(troubleOf(error)));
    throw error;
  }
  guard('openai-agents answer', () => takeResponse(steeredRequest, response, name, () => outgoing.accepted(channel)));
  return response;
}

/** This is not a generator function, because the run must be determined when the SDK calls it, not when the SDK starts to read. */
function streamSteered(parts: SteeredModelParts, model: OpenModel, call: ModelCall): AsyncIterable<unknown> {
  const steeredRequest = parts.guard('openai-agents request', () => parts.prepare(call.request, call.name));
  if (steeredRequest === undefined) return model.getStreamedResponse(call.request);
  return watchEvents(parts, steeredRequest, {
    events: () => model.getStreamedResponse(steeredRequest.request),
    name: call.name,
  });
}

async function* watchEvents(
  { guard }: SteeredModelParts,
  steeredRequest: SteeredRequest,
  { events, name }: { readonly events: () => AsyncIterable<unknown>; readonly name: string | undefined },
): AsyncGenerator {
  const { conversation, outgoing, channel } = steeredRequest;
  let isAccepted = false;
  const markAccepted = (): void => {
    if (!isAccepted) outgoing.accepted(channel);
    isAccepted = true;
  };
  await conversation.run.ready();
  try {
    for await (const event of events()) {
      guard('openai-agents stream', () => {
        markAccepted();
        const delta = deltaOf(event);
        if (delta !== undefined) conversation.run.emit({ type: 'message_update', delta });
        const response = doneResponseOf(event);
        if (response !== undefined) takeResponse(steeredRequest, response, name, markAccepted);
      });
      yield event;
    }
  } catch (error) {
    const trouble = troubleOf(error);
    guard('openai-agents stream', () => (isAccepted ? conversation.troubled(trouble) : outgoing.failed(trouble)));
    throw error;
  }
}

function takeResponse(
  steered: SteeredRequest,
  response: unknown,
  name: string | undefined,
  markAccepted: () => void,
): void {
  markAccepted();
  const { conversation } = steered;
  const answer = answerOf(response, name);
  if (answer === undefined) conversation.run.emit(unrecognisedEvent('answer', response));
  else conversation.answered(answer);
}
