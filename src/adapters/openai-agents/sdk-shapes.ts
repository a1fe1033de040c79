/**
 * The members of the @openai/agents package's types in use. Structural, so that the package is
 * never imported; the real types are assignable.
 */

/** A model request. Other members of the SDK's type pass unchanged. */
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

/** Resolves a model by its name. */
export interface ModelProvider {
  getModel(name?: string): Model | Promise<Model>;
}

/** A function tool of any origin: `tool()`, `agent.asTool()`, an MCP server. */
export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly outputSchema?: unknown;
  readonly invoke: (context: never, input: string, details?: never) => Promise<unknown>;
}

/** An agent, as listeners get it. */
export interface AgentShape {
  readonly name: string;
  readonly model?: unknown;
  readonly toolUseBehavior?: unknown;
  readonly mcpServers?: unknown;
}

/** Runs agents: emits their events, and holds the model provider. */
export interface RunnerShape {
  readonly config: { modelProvider: ModelProvider; model?: string | Model };
  on(event: never, listener: never): unknown;
  off(event: never, listener: never): unknown;
}
