/** A parameter. The statement casts the text to its type. */
export type PostgresValue = string | null;

/** A row by column name. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/** Runs statements on one connection or a pool. */
export interface PostgresSession {
  /** Runs SQL. With values, it is one statement, prepared once per connection. Without values, it may be several statements. */
  query(text: string, values?: readonly PostgresValue[]): Promise<readonly PostgresRow[]>;
}

/** Receives messages of a channel. */
export interface PostgresListener {
  onMessage(payload: string): void;
  /** Called when listening starts, also after a lost connection. Earlier messages may be missing. */
  onListening(): void;
}

/** The interface to a client package, with one adapter per package. */
export interface PostgresClient extends PostgresSession {
  /** Runs BEGIN, `work` and COMMIT on one connection. If `work` throws, runs ROLLBACK and throws the same error. */
  transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T>;
  /** Listens on a separate connection, reconnecting as needed, until the returned function is called. */
  listen(channel: string, listener: PostgresListener): Promise<() => Promise<void>>;
  /** Ends all connections of the handle. */
  end(): Promise<void>;
}
