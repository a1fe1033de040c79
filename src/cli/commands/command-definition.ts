/** An option: its help text, or more than that. */
export type OptionDefinition =
  | string
  | {
      readonly text: string;
      readonly isRequired?: boolean;
      /** May be repeated; the value is a list. */
      readonly isRepeatable?: boolean;
    };

/**
 * The function of a command. Parameters: its arguments in order, an object of its options (`--to-store` → `toStore`), the
 * terminal. Resolves to the exit code, default 0. The parameters depend on the definition, which no type can state here.
 */
export type CommandFunction = (...parameters: never[]) => Promise<number | void>;

/** A command of the program. */
export interface CommandDefinition {
  readonly name: string;
  /** Its line in the list of commands. */
  readonly summary: string;
  /** The text of its help; default: the summary. */
  readonly description?: string;
  /** Arguments in order, such as `<paths...>` (at least one) or `[store]` (optional), with their help texts. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Options, such as `--json` or `--limit <number>`, in the order of the help. */
  readonly options?: Readonly<Record<string, OptionDefinition>>;
  /** Command lines at the end of the help. */
  readonly examples: readonly string[];
  /** Loads the code of the command; absent if it only has subcommands. */
  readonly load?: () => Promise<CommandFunction>;
  /** Subcommands, such as `check` of `config check`. */
  readonly commands?: readonly CommandDefinition[];
}

const POSTGRES_ADDRESS = 'postgres://USER@HOST/DATABASE';
const DEFAULT_STORE_TEXT = 'default: $COXSWAIN_STORE, else .coxswain/runs.db';

/** The argument of commands about a store. */
export const STORE_ARGUMENT = {
  '[store]': `a SQLite file, or ${POSTGRES_ADDRESS} (${DEFAULT_STORE_TEXT})`,
};

/** The option of commands that write to a store. */
export const TARGET_OPTION = {
  '--store <address>': `the store to write to, created if missing: a SQLite file, or ${POSTGRES_ADDRESS} (${DEFAULT_STORE_TEXT})`,
};

/** The option of commands that read a store. */
export const STORE_OPTION = {
  '--store <address>': `the store to read: a SQLite file, a folder of JSON lines, or ${POSTGRES_ADDRESS}; ${DEFAULT_STORE_TEXT}`,
};

/** The options of commands that report the patterns of runs. */
export const PATTERN_OPTIONS = {
  '--hints': 'also report hints, which are not recorded (implies --recompute)',
  '--recompute': 'detect the patterns of a steered run again instead of showing the recorded ones',
};
