/**
 * The few members of the @openai/agents package's types that are read or written. Structural, so that the package is
 * never imported; the real types fit them.
 */

/** A request to a model. The SDK's own has more members, which pass through. */
export interface ModelRequest {
  readonly systemInstructions?: string;
  readonly input: unknown;
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly tools?: unknown;
  readonly handoffs?: unknown;
}

/** A model. */
export interface Model {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

/** What finds a model by its name. */
export interface ModelProvider {
  getModel(name?: string): Model | Promise<Model>;
}

/** A tool that is a function, whoever made it: `tool()`, `agent.asTool()`, an MCP server. */
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

/** What runs agents: tells of what they do, and holds the models' provider. */
export interface RunnerShape {
  readonly config: { modelProvider: ModelProvider; model?: string | Model };
  on(event: never, listener: never): unknown;
  off(event: never, listener: never): unknown;
}
