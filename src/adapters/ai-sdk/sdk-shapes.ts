import { isJsonObject } from '../../core/base/json.ts';

/** A language model of the SDK: specification v2 (ai 5), v3 (ai 6) or v4 (ai 7). Contains only the members that coxswain uses. */
export interface LanguageModelShape {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

export type SdkFields = Readonly<Record<string, unknown>>;

export type ModelRequest = SdkFields & { readonly prompt: readonly PromptMessage[] };

export interface PromptMessage {
  readonly role: string;
  /** A string for `system`, otherwise a list of parts. */
  readonly content: unknown;
}

export function modelRequestOf(options: unknown): ModelRequest | undefined {
  if (!isJsonObject(options)) return undefined;
  const { prompt } = options;
  if (!Array.isArray(prompt) || !prompt.every(isPromptMessage)) return undefined;
  return { ...options, prompt };
}

function isPromptMessage(value: unknown): value is PromptMessage {
  return isJsonObject(value) && typeof value['role'] === 'string' && 'content' in value;
}

export function textField(fields: SdkFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

export function abortSignalOf(
  request: ModelRequest,
): { readonly aborted: boolean; readonly reason?: unknown } | undefined {
  const signal = request['abortSignal'];
  if (typeof signal !== 'object' || signal === null || !('aborted' in signal)) return undefined;
  // Read the signal on every access, because its state changes.
  return {
    get aborted() {
      return signal.aborted === true;
    },
  };
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && ['AbortError', 'TimeoutError', 'ResponseAborted'].includes(error.name);
}

/** Returns true if the API rejected the request itself. Other errors do not depend on the content of the request. */
export function isRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return false;
  return error.statusCode === 400 || error.statusCode === 422;
}
