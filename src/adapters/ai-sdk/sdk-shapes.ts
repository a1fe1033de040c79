import { isJsonObject } from '../../base/json.ts';

/** A language model of the SDK: specification v2 (ai 5), v3 (ai 6) or v4 (ai 7). Only what is read. */
export interface LanguageModelShape {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** An object of the SDK whose fields are read one by one. */
export type SdkFields = Readonly<Record<string, unknown>>;

/** What the SDK hands to a model: the one field that must be there, and whatever else it brings. */
export type ModelRequest = SdkFields & { readonly prompt: readonly PromptMessage[] };

/** One message of a request, in the form the SDK gives to models. */
export interface PromptMessage {
  readonly role: string;
  /** A text for `system`, else a list of parts. */
  readonly content: unknown;
}

/** The request, where it has the shape that is known. */
export function modelRequestOf(options: unknown): ModelRequest | undefined {
  if (!isJsonObject(options)) return undefined;
  const { prompt } = options;
  if (!Array.isArray(prompt) || !prompt.every(isPromptMessage)) return undefined;
  return { ...options, prompt };
}

function isPromptMessage(value: unknown): value is PromptMessage {
  return isJsonObject(value) && typeof value['role'] === 'string' && 'content' in value;
}

/** The parts of a message or an answer; what is no object is passed over. */
export function partsOf(content: unknown): readonly SdkFields[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** The field as text; `''` where it is none. */
export function textField(fields: SdkFields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** The request's names of tools, in order. */
export function toolNamesOf(request: ModelRequest): readonly string[] {
  return partsOf(request['tools']).map((tool) => textField(tool, 'name'));
}

/** Most tokens the answer may have, where the request says so. */
export function outputCapOf(request: ModelRequest): number | undefined {
  const cap = request['maxOutputTokens'];
  return typeof cap === 'number' ? cap : undefined;
}

/** The request's abort signal, where there is one. */
export function abortSignalOf(request: ModelRequest): { readonly aborted: boolean } | undefined {
  const signal = request['abortSignal'];
  if (typeof signal !== 'object' || signal === null || !('aborted' in signal)) return undefined;
  // Read at every look, not once: a signal changes.
  return {
    get aborted() {
      return signal.aborted === true;
    },
  };
}

/** True for what is thrown when a call was given up: by the user, or by a time limit of the SDK. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && ['AbortError', 'TimeoutError', 'ResponseAborted'].includes(error.name);
}

/** True when an API answered that it does not take the request as it is; other faults have nothing to do with its shape. */
export function isRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return false;
  return error.statusCode === 400 || error.statusCode === 422;
}
