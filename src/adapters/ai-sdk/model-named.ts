import { CoxswainError } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';

/**
 * The model that the SDK resolves for a name such as `openai/gpt-5`: from the user's default provider, else from the gateway of
 * the installed package `ai`.
 *
 * @throws CoxswainError "invalid-argument" if neither has one
 */
export function modelNamed(name: string): LanguageModelShape {
  const provider: unknown = Reflect.get(globalThis, 'AI_SDK_DEFAULT_PROVIDER') ?? gateway();
  const model: unknown = isProvider(provider) ? provider.languageModel(name) : undefined;
  // The SDK's own provider returns a model for a name.
  if (isJsonObject(model) && typeof model['modelId'] === 'string') return model as unknown as LanguageModelShape;
  const message = `no model was found for the name "${name}": give the model itself, gateway("${name}")`;
  throw new CoxswainError('invalid-argument', message);
}

/** Loaded only for a model given by name: no SDK is imported otherwise. */
function gateway(): unknown {
  try {
    const { createRequire } = process.getBuiltinModule('node:module');
    const sdk: unknown = createRequire(`${process.cwd()}/package.json`)('ai');
    return isJsonObject(sdk) ? sdk['gateway'] : undefined;
  } catch {
    // Not installed: the caller's error says what to do.
    return undefined;
  }
}

function isProvider(value: unknown): value is { languageModel(name: string): unknown } {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return 'languageModel' in value && typeof value.languageModel === 'function';
}
