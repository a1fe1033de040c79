import { invalidArgument } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';

/**
 * Returns the model that the SDK resolves for a name such as `openai/gpt-5`. It comes from the user's default provider, or
 * else from the gateway of the installed package `ai`.
 *
 * @throws CoxswainError "invalid-argument" if neither provides the model
 */
export function modelNamed(name: string): LanguageModelShape {
  const provider: unknown = Reflect.get(globalThis, 'AI_SDK_DEFAULT_PROVIDER') ?? gatewayModule();
  const model: unknown = isProvider(provider) ? provider.languageModel(name) : undefined;
  // The provider is a global of the SDK, so its answer is checked.
  if (isJsonObject(model) && typeof model['modelId'] === 'string') return model as unknown as LanguageModelShape;
  const message = `no model was found for the name "${name}": give the model itself, gateway("${name}")`;
  throw invalidArgument(message);
}

/** Loads the gateway of `ai`. It is loaded only for a model given by name; otherwise no SDK is imported. */
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
