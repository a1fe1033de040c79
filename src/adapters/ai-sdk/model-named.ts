import { CoxswainError } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import type { LanguageModelShape } from './sdk-shapes.ts';

/**
 * The model that the SDK finds for a name such as `openai/gpt-5`: of the user's default provider, else of the gateway of the
 * package `ai`, as it lies where the program runs.
 *
 * @throws CoxswainError "invalid-argument" where neither gives one
 */
export function modelNamed(name: string): LanguageModelShape {
  const provider: unknown = Reflect.get(globalThis, 'AI_SDK_DEFAULT_PROVIDER') ?? gateway();
  const model: unknown = isProvider(provider) ? provider.languageModel(name) : undefined;
  // What the SDK's own provider gives for a name.
  if (isJsonObject(model) && typeof model['modelId'] === 'string') return model as unknown as LanguageModelShape;
  const message = `no model was found for the name "${name}": give the model itself, gateway("${name}")`;
  throw new CoxswainError('invalid-argument', message);
}

/** Loaded only for a model that goes by its name: an SDK is never imported otherwise. */
function gateway(): unknown {
  try {
    const { createRequire } = process.getBuiltinModule('node:module');
    const sdk: unknown = createRequire(`${process.cwd()}/package.json`)('ai');
    return isJsonObject(sdk) ? sdk['gateway'] : undefined;
  } catch {
    // Not installed there: what calls it says what to do.
    return undefined;
  }
}

function isProvider(value: unknown): value is { languageModel(name: string): unknown } {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return 'languageModel' in value && typeof value.languageModel === 'function';
}
