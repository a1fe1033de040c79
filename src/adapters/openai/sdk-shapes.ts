/**
 * The few fields of the openai package's types that are read or written. Structural, so that the package is never
 * imported; the real types fit them.
 */

/** A tool as `chat.completions.runTools` takes it. */
export interface RunnableTool {
  readonly type: string;
  readonly function?: object;
}

/** The function of a runnable tool. */
export interface RunnableFunction {
  readonly name?: string;
  readonly function: (args: unknown, runner: unknown, context: unknown) => unknown;
  readonly parse?: (input: string) => unknown;
}

/** A tool call in a chat message. */
export type ChatToolCall =
  | {
      readonly id: string;
      readonly type: 'function';
      readonly function: { readonly name: string; readonly arguments: string };
    }
  | {
      readonly id: string;
      readonly type: 'custom';
      readonly custom: { readonly name: string; readonly input: string };
    };

/** A call of a function in the output of a response. */
export interface ResponsesFunctionCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A call of a custom tool in the output of a response. */
export interface ResponsesCustomCall {
  readonly type: 'custom_tool_call';
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
}

/** Any tool call that a loop of one's own runs. */
export type ToolCall = ChatToolCall | ResponsesFunctionCall | ResponsesCustomCall;

/** A part of a chat message that is text. */
export interface ChatTextPart {
  type: 'text';
  text: string;
}

/** A part of a Responses item that is text. */
export interface InputTextPart {
  type: 'input_text';
  text: string;
}

/** What a tool answered, as a chat message. */
export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string | ChatTextPart[];
}

/** What a tool answered, as an item of the next response's input. */
export interface FunctionCallOutput<Part> {
  type: 'function_call_output';
  call_id: string;
  output: string | (Part | InputTextPart)[];
}

/** What a custom tool answered, as an item of the next response's input. */
export interface CustomToolCallOutput<Part> {
  type: 'custom_tool_call_output';
  call_id: string;
  output: string | (Part | InputTextPart)[];
}

/** `fetch` as the package calls it. */
export type Fetch = typeof globalThis.fetch;
