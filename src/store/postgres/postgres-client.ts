/** A parameter: text that the statement casts to its type. */
export type PostgresValue = string | null;

/** A row by column name. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/** Runs statements on one connection or a pool. */
export interface PostgresSession {
  /** With values: one statement, prepared once per connection. Without: may be several statements. */
  query(text: string, values?: readonly PostgresValue[]): Promise<readonly PostgresRow[]>;
}

/** Receives messages of a channel. */
export interface PostgresListener {
  onMessage(payload: string): void;
  /** Listening began, also again after a lost connection: earlier messages may be missing. */
  onListening(): void;
}

/** The interface to a client package, with one adapter per package. */
export interface PostgresClient extends PostgresSession {
  /** BEGIN, `work`, COMMIT on one connection; if `work` throws, ROLLBACK and the same error. */
  transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T>;
  /** Listens on a separate connection, reconnecting as needed, until the returned function is called. */
  listen(channel: string, listener: PostgresListener): Promise<() => Promise<void>>;
  /** Ends all connections of the handle. */
  end(): Promise<void>;
}
