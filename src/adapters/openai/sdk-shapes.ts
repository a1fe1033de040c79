/** The fields of the openai package's types that coxswain uses: structural, so the package is never imported. */

/** A tool for `chat.completions.runTools`. */
export interface RunnableTool {
  readonly type: string;
  readonly function?: object;
}

export interface RunnableFunction {
  readonly name?: string;
  readonly function: (args: unknown, runner: unknown, context: unknown) => unknown;
  readonly parse?: (input: string) => unknown;
}

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

export interface ResponsesFunctionCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ResponsesCustomCall {
  readonly type: 'custom_tool_call';
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
}

export type ToolCall = ChatToolCall | ResponsesFunctionCall | ResponsesCustomCall;

export interface ChatTextPart {
  type: 'text';
  text: string;
}

export interface InputTextPart {
  type: 'input_text';
  text: string;
}

export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string | ChatTextPart[];
}

/** A tool's result as an item of the next response's input. */
export interface FunctionCallOutput<Part> {
  type: 'function_call_output';
  call_id: string;
  output: string | (Part | InputTextPart)[];
}

/** A custom tool's result as an item of the next response's input. */
export interface CustomToolCallOutput<Part> {
  type: 'custom_tool_call_output';
  call_id: string;
  output: string | (Part | InputTextPart)[];
}
