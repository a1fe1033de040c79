/** A tool call in a model's answer. */
export interface IssuedCall {
  /** The host's id; empty without one. */
  readonly id: string;
  readonly name: string;
  /** Parsed if it is JSON, else the text. */
  readonly args: unknown;
  /** The arguments as the model wrote them, to distinguish calls of one tool. */
  readonly argsText: string;
  /** Result of a call that the provider ran itself: part of the model's answer. */
  readonly answer?: CallOutcome;
}

/** The result of a tool call. */
export interface CallOutcome {
  /** As the model sees it: a string, or the host's structured result. */
  readonly result: unknown;
  readonly isError: boolean;
}
