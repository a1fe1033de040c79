/** What an option means: its help text, or more than that. */
export type OptionDefinition =
  | string
  | {
      readonly text: string;
      /** The command cannot run without it. */
      readonly isRequired?: boolean;
      /** It may be given several times; its value is a list. */
      readonly isRepeatable?: boolean;
    };

/**
 * The function of a command: its arguments in their order, an object of its options (named as in `--to-store` →
 * `toStore`), the terminal. Resolves to the exit code; nothing means 0. The parameters are those that the definition
 * declares, which no type can state here.
 */
export type CommandFunction = (...parameters: never[]) => Promise<number | void>;

/** A command of the program. */
export interface CommandDefinition {
  readonly name: string;
  /** One line in the list of commands. */
  readonly summary: string;
  /** What its help says; default: the summary. */
  readonly description?: string;
  /** Arguments in their order, such as `<paths...>` (at least one) or `[store]` (optional), and what they are. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Options, such as `--json` or `--limit <number>`, in the order of the help. */
  readonly options?: Readonly<Record<string, OptionDefinition>>;
  /** Command lines for the end of the help. */
  readonly examples: readonly string[];
  /** Loads its code, once it is called; undefined for a command that only holds others. */
  readonly load?: () => Promise<CommandFunction>;
  /** Commands below it, such as `check` of `config check`. */
  readonly commands?: readonly CommandDefinition[];
}

/** The address of a database, as help texts give it. */
const POSTGRES_ADDRESS = 'postgres://USER@HOST/DATABASE';
const DEFAULT_STORE_TEXT = 'default: $COXSWAIN_STORE, else .coxswain/runs.db';

/** The argument of commands whose subject is a store. */
export const STORE_ARGUMENT = {
  '[store]': `a SQLite file, or ${POSTGRES_ADDRESS} (${DEFAULT_STORE_TEXT})`,
};

/** The option of commands that write into a store. */
export const TARGET_OPTION = {
  '--store <address>': `the store to write into, made if missing: a SQLite file, or ${POSTGRES_ADDRESS} (${DEFAULT_STORE_TEXT})`,
};

/** The option of commands that read a store. */
export const STORE_OPTION = {
  '--store <address>': `the store to read: a SQLite file, a folder of JSON lines, or ${POSTGRES_ADDRESS}; ${DEFAULT_STORE_TEXT}`,
};

/** The options of commands that report the patterns of runs. */
export const PATTERN_OPTIONS = {
  '--hints': 'report patterns too that never got beyond a hint, which no record holds (implies --recompute)',
  '--recompute': 'find the patterns of a steered run again instead of showing those on its record',
};
