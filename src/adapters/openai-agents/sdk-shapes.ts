/** The fields of @openai/agents' types that coxswain uses. They are structural, so the package is never imported. */

/** A model request. Other fields of the SDK's type are passed on unchanged. */
export interface ModelRequest {
  readonly systemInstructions?: string;
  readonly input: unknown;
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly tools?: unknown;
  readonly handoffs?: unknown;
}

export interface Model {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

export interface ModelProvider {
  getModel(name?: string): Model | Promise<Model>;
}

/** A function tool. It was created by `tool()`, `agent.asTool()` or an MCP server. */
export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly outputSchema?: unknown;
  readonly invoke: (context: never, input: string, details?: never) => Promise<unknown>;
}

export interface AgentShape {
  readonly name: string;
  readonly model?: unknown;
  readonly toolUseBehavior?: unknown;
  readonly mcpServers?: unknown;
}

/** Runs agents. It emits their events and has the model provider. */
export interface RunnerShape {
  readonly config: { modelProvider: ModelProvider; model?: string | Model };
  on(event: never, listener: never): unknown;
  off(event: never, listener: never): unknown;
}
