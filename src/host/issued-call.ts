/** A tool call that a model asked for. */
export interface IssuedCall {
  /** The host's own id; empty where it gives none. */
  readonly id: string;
  readonly name: string;
  /** Parsed where it is JSON, else the text. */
  readonly args: unknown;
  /** The arguments as the model wrote them, to tell calls of one tool apart. */
  readonly argsText: string;
  /** Of a call that the provider made itself: it came back within the model's answer. */
  readonly answer?: CallOutcome;
}

/** How a tool call came back. */
export interface CallOutcome {
  /** What the model gets to see: a string, or the host's structured result. */
  readonly result: unknown;
  readonly isError: boolean;
}
