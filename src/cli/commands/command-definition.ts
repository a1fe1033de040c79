export type OptionDefinition =
  | string
  | {
      readonly text: string;
      readonly isRepeatable?: boolean;
    };

/** Receives the arguments in order, the options (`--to-store` → `toStore`) and the terminal. Resolves to the exit code; default 0. */
export type CommandFunction = (...parameters: never[]) => Promise<number | void>;

export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  /** The description in the help of the command. Default: the summary. */
  readonly description?: string;
  /** Arguments in order with their help texts. `<paths...>` requires at least one value; `[store]` is optional. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, OptionDefinition>>;
  readonly examples: readonly string[];
  readonly load?: () => Promise<CommandFunction>;
  readonly commands?: readonly CommandDefinition[];
}

const POSTGRES_ADDRESS = 'postgres://USER@HOST/DATABASE';
const DEFAULT_STORE_TEXT = 'default: $COXSWAIN_STORE, else the store of this project';

export const STORE_ARGUMENT = {
  '[store]': `a SQLite file, or ${POSTGRES_ADDRESS} (${DEFAULT_STORE_TEXT})`,
};

export const TARGET_OPTION = {
  '--store <address>': `the store to write to, created if missing: a SQLite file, or ${POSTGRES_ADDRESS} (${DEFAULT_STORE_TEXT})`,
};

export const STORE_OPTION = {
  '--store <address>': `the store to read: a SQLite file or ${POSTGRES_ADDRESS}; ${DEFAULT_STORE_TEXT}`,
};

export const PATTERN_OPTIONS = {
  '--hints': 'also report hints, which are not recorded (implies --recompute)',
  '--recompute': 'detect the patterns of a steered run again instead of showing the recorded ones',
};
