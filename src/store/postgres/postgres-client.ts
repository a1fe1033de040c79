/** What a statement takes as a parameter: text, which PostgreSQL reads as the type that the statement names. */
export type PostgresValue = string | null;

/** One row by column name. The statements of this store name their columns in single small words. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/** Runs statements one after the other on one connection or any. */
export interface PostgresSession {
  /** One statement. With values it is prepared once a connection, without it may be several statements. */
  query(text: string, values?: readonly PostgresValue[]): Promise<readonly PostgresRow[]>;
}

/** What is told while a channel is listened to. */
export interface PostgresListener {
  onMessage(payload: string): void;
  /** Listening began, for the first time or again after the connection was lost: messages may be missing before it. */
  onListening(): void;
}

/** What the store needs of a client package. One adapter a package. */
export interface PostgresClient extends PostgresSession {
  /** BEGIN, `work`, COMMIT on one connection; ROLLBACK and the same error when `work` throws. */
  transaction<T>(work: (session: PostgresSession) => Promise<T>): Promise<T>;
  /** Listens on a connection of its own, which is made again when lost, until the answer is called. */
  listen(channel: string, listener: PostgresListener): Promise<() => Promise<void>>;
  /** Ends all connections of the handle. */
  end(): Promise<void>;
}
