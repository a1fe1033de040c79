import { isJsonObject } from '../../base/json.ts';

/** A language model of the SDK: specification v2 (ai 5), v3 (ai 6) or v4 (ai 7). Only members in use. */
export interface LanguageModelShape {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** An SDK object with unchecked members. */
export type SdkFields = Readonly<Record<string, unknown>>;

/** A request from the SDK to a model: its one required member, and any others. */
export type ModelRequest = SdkFields & { readonly prompt: readonly PromptMessage[] };

/** A message of a request, in the SDK's form for models. */
export interface PromptMessage {
  readonly role: string;
  /** Text for `system`, else a list of parts. */
  readonly content: unknown;
}

/** The request, if its shape is known. */
export function modelRequestOf(options: unknown): ModelRequest | undefined {
  if (!isJsonObject(options)) return undefined;
  const { prompt } = options;
  if (!Array.isArray(prompt) || !prompt.every(isPromptMessage)) return undefined;
  return { ...options, prompt };
}

function isPromptMessage(value: unknown): value is PromptMessage {
  return isJsonObject(value) && typeof value['role'] === 'string' && 'content' in value;
}

/** The parts of a message or an answer; anything but an object is skipped. */
export function partsOf(content: unknown): readonly SdkFields[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** The field as text; `''` for other values. */
export function textField(fields: SdkFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Tool names of the request, in order. */
export function toolNamesOf(request: ModelRequest): readonly string[] {
  return partsOf(request['tools']).map((tool) => textField(tool, 'name'));
}

/** Output cap of the request in tokens, if any. */
export function outputCapOf(request: ModelRequest): number | undefined {
  const cap = request['maxOutputTokens'];
  return typeof cap === 'number' ? cap : undefined;
}

/** The request's abort signal, if any. */
export function abortSignalOf(request: ModelRequest): { readonly aborted: boolean } | undefined {
  const signal = request['abortSignal'];
  if (typeof signal !== 'object' || signal === null || !('aborted' in signal)) return undefined;
  // Read on every access: a signal changes.
  return {
    get aborted() {
      return signal.aborted === true;
    },
  };
}

/** True for the error of an aborted request: by the user, or by a time limit of the SDK. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && ['AbortError', 'TimeoutError', 'ResponseAborted'].includes(error.name);
}

/** True if an API rejected the request itself; other faults are unrelated to its shape. */
export function isRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return false;
  return error.statusCode === 400 || error.statusCode === 422;
}
