import { type CommandDefinition, STORE_ARGUMENT, STORE_OPTION, TARGET_OPTION } from './command-definition.ts';

export const STORE_COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'search',
    summary: 'find messages, calls and results by their words',
    description:
      'Finds the recorded messages, calls and results that contain all the words, newest first; if this project has none, those in the ' +
      'session files of this machine. Words in double quotes (inside those of the shell) must be adjacent. Exit code 0 also if nothing is found.',
    arguments: { '<words...>': 'words that a record must contain, all of them' },
    options: {
      ...STORE_OPTION,
      '--run <run>': 'only in this run: its id, or a prefix of it',
      '--kind <kind>': { text: 'only records of this kind, such as tool_ended; may be repeated', isRepeatable: true },
      '--limit <number>': 'hits to print, 1 to 1000 (default: 50)',
      '--after <cursor>': 'continue after the cursor that an earlier search printed',
      '--all': 'search the session files of this machine, not the records of this project',
      '--json': 'print one line of JSON per hit',
    },
    examples: [
      'coxswain search no rule for target',
      'coxswain search \'"expected 7439"\' --kind tool_ended',
      'coxswain search deploy --run retry-storm --json',
    ],
    load: async () => (await import('./search/search-command.ts')).searchCommand,
  },
  {
    name: 'verify',
    summary: 'check a store for damage',
    description:
      'Reads a whole store and prints every problem with its place: missing, torn or damaged records, wrong ' +
      'checksums. Exit code 1 if there is a problem.',
    arguments: { ...STORE_ARGUMENT },
    options: { '--json': 'print one line of JSON per problem, then one with the totals' },
    examples: ['coxswain verify', 'coxswain verify postgres://agents@db/agents --json'],
    load: async () => (await import('./verify/verify-command.ts')).verifyCommand,
  },
  {
    name: 'export',
    summary: 'write runs as JSON lines, spans, trajectories, chat messages or one HTML file, or copy them to a store',
    description:
      'Writes the records of runs as stored, one line of JSON each; with --format in the format of another tool; ' +
      'or copies them to another store. Repeating a copy continues where it was interrupted.',
    arguments: { '[runs...]': 'run ids, or their beginnings (default: all runs)' },
    options: {
      ...STORE_OPTION,
      '--format <name>': 'records (default), atif, openai, otlp or html',
      '--html': 'one HTML file of one run, for a bug report; the same as --format html',
      '--to <target>': 'write to this new file (default: -, standard output), or send spans to this http address',
      '--no-content': 'with --format otlp: omit arguments, results, messages, and texts that may quote them',
      '--to-store <address>': 'copy to this store instead',
      '--json': 'with --to or --to-store: print the totals as one line of JSON',
    },
    examples: [
      'coxswain export > all.ndjson',
      'coxswain export retry-storm --to retry-storm.ndjson',
      'coxswain export retry-storm --html --to retry-storm.html',
      'coxswain export 3 --html --to session.html',
      'coxswain export retry-storm --format atif --to trajectory.json',
      'coxswain export --format openai > messages.jsonl',
      'coxswain export --format otlp --to http://localhost:4318',
      'coxswain export --to-store postgres://agents@db/agents',
    ],
    load: async () => (await import('./export/export-command.ts')).exportCommand,
  },
  {
    name: 'import',
    summary: 'read exported records or another store into a store',
    description:
      'Copies the output of coxswain export, or the runs of another store, into a store, with ids and numbers unchanged. Repeating it ' +
      'changes nothing. coxswain import .coxswain/runs.db moves the runs that an earlier version recorded in the project. ' +
      'Use coxswain analyze PATH --store STORE for recordings of other programs.',
    arguments: {
      '<file>': 'a store, or a file of records, one line of JSON each (.gz and .zst are unpacked), or -',
    },
    options: { ...TARGET_OPTION, '--json': 'print the totals as a line of JSON' },
    examples: [
      'coxswain import .coxswain/runs.db',
      'coxswain import all.ndjson --store copy.db',
      'zcat all.ndjson.gz | coxswain import -',
    ],
    load: async () => (await import('./import/import-command.ts')).importCommand,
  },
  {
    name: 'recover',
    summary: 'save the readable records of a damaged store, or add waiting hook events to a store',
    description:
      'With --to, saves the readable records of a damaged store into a new one, run by run, with gap records for lost ' +
      'ones; a run without an end is marked as interrupted. The original is never changed; stop its writers first. ' +
      'Exit code 1 if something was lost. Without --to, adds to the store the hook events that wait in spill files next to it.',
    arguments: { '<store>': 'the store' },
    options: {
      '--to <address>': 'the new store',
      '--json': 'print one line of JSON per run, then one with the totals',
    },
    examples: ['coxswain recover damaged.db --to saved.db', 'coxswain recover runs.db'],
    load: async () => (await import('./recover/recover-command.ts')).recoverCommand,
  },
  {
    name: 'gc',
    summary: 'delete runs that are too old, or the oldest down to a size',
    description:
      'Deletes recorded runs that are too old or exceed a size, the least recently active first; a run is only deleted with ' +
      'its parents and children. Keeps runs without an end that were active in the last 24 hours, and damaged ones. Without ' +
      '--older-than and --max-size the limit is 2 GB; with --older-than alone the size is not limited.',
    arguments: { ...STORE_ARGUMENT },
    options: {
      '--older-than <span>': 'delete runs whose last record is older, such as 30d, 12h or 2w',
      '--max-size <size>': 'delete the oldest runs until the store is no larger, such as 500MB or 2GB',
      '--dry-run': 'only print what would be deleted',
      '--json': 'print one line of JSON per run, then one with the totals',
    },
    examples: ['coxswain gc', 'coxswain gc --older-than 30d --dry-run', 'coxswain gc runs.db --max-size 500MB --json'],
    load: async () => (await import('./gc/gc-command.ts')).gcCommand,
  },
  {
    name: 'config',
    summary: 'check and show the configuration of this folder',
    examples: ['coxswain config check', 'coxswain config show --set'],
    commands: [
      {
        name: 'check',
        summary: 'report errors in the configuration, and what it does',
        description:
          'Reports every error in the configuration by field, files of the project that are not trusted and ignored, ' +
          'and the resulting steering. Without a file: the configuration of this folder on top of your own. A named file ' +
          'is trusted, and its code runs. Exit code 1 if there are errors.',
        arguments: { '[file]': 'a configuration: .json, .jsonc or .ts' },
        options: { '--json': 'print one line of JSON' },
        examples: ['coxswain config check', 'coxswain config check coxswain.config.json --json'],
        load: async () => (await import('./config/config-commands.ts')).configCheckCommand,
      },
      {
        name: 'show',
        summary: 'print every field with its effective value',
        description: 'Prints every field with its effective value, and which of them are set.',
        options: {
          '--config <file>': 'the configuration to show; it is trusted',
          '--set': 'print only fields that are set',
          '--json': 'print the fields that are set as one line of JSON',
        },
        examples: ['coxswain config show', 'coxswain config show --set'],
        load: async () => (await import('./config/config-commands.ts')).configShowCommand,
      },
    ],
  },
  {
    name: 'trust',
    summary: 'trust the configuration of a project',
    description:
      'Trusts the configuration files of a project with their current content. Without trust they are ignored as a whole, so a repository ' +
      'cannot silence advice, move records, force turns or run a command. Read the files first. Changing them revokes the trust.',
    arguments: { '[folder]': 'the project (default: this folder)' },
    options: {
      '--revoke': 'revoke the trust',
      '--list': 'list the trusted projects',
      '--json': 'print one line of JSON per project',
    },
    examples: ['coxswain trust', 'coxswain trust ../app --revoke'],
    load: async () => (await import('./trust/trust-command.ts')).trustCommand,
  },
  {
    name: 'backtest',
    summary: 'try a steering on recorded runs before switching it on',
    description:
      'Replays recorded runs under a steering configuration and reports its advice: in how many runs, ' +
      'where, and how it relates to the outcomes. Takes stores, files of any format, folders, globs and -. ' +
      'Without --config: the standard steering. It shows only the advice: a recording does not show how the ' +
      'agent would have reacted. Exit code 1 on a read error, a failed gate, or a difference found by --verify.',
    arguments: { '[paths...]': 'stores, files, folders, globs, or - (default: the store of this project)' },
    options: {
      '--config <file>': 'the configuration to try, or standard (default: standard)',
      '--compare <files...>': 'compare two configurations, each a file or standard; paths follow',
      '--sweep <field=values>': 'try a number at several values: field=2..6, field=0..1/0.25 or field=2,4,8',
      '--labels <file>': 'judge runs by these labels instead of their outcomes: a CSV of id,target,split,note',
      '--split <name=share>': 'measure two parts that share no task, such as dev=0.7; the rest is test',
      '--max-false-rate <share>': 'gate: fail if a larger share of successful runs gets advice',
      '--min-recall <share>': 'gate: fail if a smaller share of failed runs gets advice',
      '--max-advice-per-100-calls <number>': 'gate: fail if there are more pieces of advice per 100 calls',
      '--workers <number>': 'threads, 1 to 256 (default: the cores of the machine)',
      '--resume <file>': 'store finished work in this file and continue from there',
      '--queue <address>':
        'share the work with other machines that run the same command, through a queue at postgres://USER@HOST/DATABASE (needs pg-boss)',
      '--stop-early': 'measure the savings and lost successes of stopping a run after a stuck warning',
      '--verify': 'replay runs of stores under their own configuration and compare every derived record',
      '--lessons':
        'judge what keeps failing: each session by the sessions before it; each of several paths is a project',
      '--json': 'print the report as one line of JSON',
    },
    examples: [
      'coxswain backtest runs/',
      'coxswain backtest --config coxswain.config.json',
      'coxswain backtest --compare standard stricter.json runs/',
      'coxswain backtest runs/ --split dev=0.7 --sweep doomLoop.maxRepetitions=2..6',
      'coxswain backtest runs/ --max-false-rate 0.1 --min-recall 0.4',
      'coxswain backtest postgres://USER@HOST/runs --queue postgres://USER@HOST/runs    on each machine',
      'coxswain backtest runs/ --stop-early',
      'coxswain backtest --verify',
      'coxswain backtest --lessons sessions/*/',
    ],
    load: async () => (await import('./backtest/backtest-command.ts')).backtestCommand,
  },
  {
    name: 'effect',
    summary: 'measure whether advice helps: advised episodes against episodes without it',
    description:
      'Shows what followed advice. If the holdout option withheld some, compares advised with withheld episodes: how many ended within ' +
      'the declared number of calls, with a 95 % interval that is valid for any number of looks, and a verdict or the number of ' +
      'further runs needed. Without an experiment nothing is compared. See docs/effect.md.',
    arguments: {
      '[paths...]':
        'stores, or files, folders and globs of exported runs (default: $COXSWAIN_STORE, else the store of this project)',
    },
    options: {
      '--within <calls>': 'calls within which a pattern should clear, 1 to 1000 (default: as the experiment declared)',
      '--worthwhile <points>': 'the smallest difference that matters to you, in points, 1 to 100 (default: 5)',
      '--json': 'print one line of JSON',
    },
    examples: ['coxswain effect', 'coxswain effect runs.db --within 5', 'coxswain effect --json'],
    load: async () => (await import('./effect/effect-command.ts')).effectCommand,
  },
];
