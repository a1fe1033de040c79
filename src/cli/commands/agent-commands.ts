import { type CommandDefinition, PATTERN_OPTIONS, STORE_OPTION, TARGET_OPTION } from './command-definition.ts';

export const AGENT_COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'analyze',
    summary: 'report where agents got stuck in recorded runs',
    description:
      'Reads recorded runs and reports where the agents got stuck. Takes files, folders, globs and - for standard ' +
      'input; detects the format by content and unpacks gzip and zstd. Without paths, it reads the sessions that ' +
      'Claude Code, Codex, Copilot CLI, Gemini CLI, opencode, pi, Qwen Code, Kimi CLI, Kimi Code, goose and Aider keep on this machine, newest first. Calls are ' +
      'numbered from 1, also in JSON.',
    arguments: { '[paths...]': 'files, folders, globs, or - (default: the sessions of every agent program)' },
    options: {
      '--json': 'print one line of JSON per run',
      '--stuck': 'report only runs that got stuck',
      ...PATTERN_OPTIONS,
      '--summary': 'print the totals only',
      '--all': 'print every run, however many there are',
      '--by <group>':
        'print a table by model, task, tool or folder: runs, stuck runs with examples, calls and cost, in total and after the first flag',
      '--csv <file>': 'also write one row per run as CSV',
      '--format <name>': 'read every file as this format',
      '--store <address>': 'also record the runs in this store: a SQLite file, or postgres://USER@HOST/DATABASE',
      '--verbose': 'also print what was repaired or left out while reading',
    },
    examples: [
      'coxswain analyze --stuck',
      'coxswain analyze session.jsonl',
      "coxswain analyze 'runs/**/*.traj' --stuck",
      'coxswain analyze results/ --json > reports.ndjson',
      'coxswain analyze results/ --by model --csv runs.csv',
      'zcat big.jsonl.gz | coxswain analyze - --summary',
      'coxswain analyze runs/ --store analysed.db',
    ],
    load: async () => (await import('./analyze/analyze-command.ts')).analyzeCommand,
  },
  {
    name: 'hook',
    summary: 'record one event of an agent program; its settings call this',
    description:
      'Reads one event of Claude Code, Codex, Copilot CLI or Gemini CLI from standard input, records it and responds with advice, if any. Settings call ' +
      'dist/hook.cjs instead, which does the same and starts faster. Always exits with code 0.',
    examples: ['coxswain hook < event.json', 'COXSWAIN_DISABLE=1 coxswain hook    does nothing'],
    load: async () => (await import('./hook/hook-command.ts')).runHookCommand,
  },
  {
    name: 'runs',
    summary: 'list the recorded runs, the most recently started first',
    options: {
      ...STORE_OPTION,
      '--project <name>':
        'only the runs of this project: its folder, or the name of its folder (default: every project)',
      '--json': 'print one line of JSON per run',
      '--limit <number>': 'runs to list, 1 to 1000 (default: 50)',
      '--after <cursor>': 'continue after the cursor that an earlier list printed',
      '--cost': 'print tokens and cost of each run, which reads all its records',
    },
    examples: ['coxswain runs', 'coxswain runs --limit 10 --json'],
    load: async () => (await import('./runs/runs-command.ts')).runsCommand,
  },
  {
    name: 'show',
    summary: 'report on one run, or on one of its calls',
    description:
      'Reports on a recorded run, or on a run of the last report: coxswain 3 is coxswain show 3. With --call, shows how detection read one call: its kind, whether it failed, the text ' +
      'compared, the earlier calls equal to it, and its patterns.',
    arguments: { '<run>': 'the id of the run, or its beginning, or its number in the last report' },
    options: {
      ...STORE_OPTION,
      '--call <number>': 'the call to show, numbered from 1',
      '--json': 'print its stored records, one per line; with --call, the reading of the call',
      ...PATTERN_OPTIONS,
    },
    examples: [
      'coxswain show retry-storm',
      'coxswain show retry-storm --call 4',
      'coxswain show retry-storm --json > run.jsonl',
    ],
    load: async () => (await import('./show/show-command.ts')).showCommand,
  },
  {
    name: 'watch',
    summary: 'follow running agents live, with the advice they would get',
    description:
      'Follows a transcript while an agent writes it (Claude Code, or any format with one JSON value per line) and prints ' +
      'calls, patterns, and the advice the standard steering would give. Without a path it follows every session of an agent ' +
      'program active in the last half hour or started later, and the stores of your projects: on a terminal as a list with ' +
      'one line per run, else line by line. It only prints: nothing reaches the agent. ' +
      'Ctrl-C ends it.',
    arguments: {
      '[file]': 'the growing file; the command waits for it if it does not exist (default: every active session)',
    },
    options: {
      '--newest': 'without a path: only the most recently written session, call by call',
      '--project <name>':
        'without a path: only this project: its folder, or the name of its folder (default: every project)',
      '--deadline <span>': 'the time a run has from its first record, such as 45m or 1h30m',
      '--on-stuck <command>':
        'run this shell command when a run gets stuck, continues after advice, waits for a person or is silent: at most once per ' +
        'run and event in ten minutes, with the event as JSON on standard input and in COXSWAIN_EVENT, COXSWAIN_RUN and COXSWAIN_MESSAGE',
      '--bell': 'ring the terminal bell at the same events',
      '--from-start': 'print the whole file, not only the last ten calls',
      '--until-end': 'exit when the run has ended',
      '--no-wait': 'fail if the file does not exist',
      '--background':
        'watch every agent in a process of its own that only notifies (notify in your configuration); one per user, until --stop',
      '--stop': 'end the watch in the background',
      '--json': 'print one line of JSON per event',
      '--interval <ms>': 'milliseconds between two reads of the file, 10 to 60000 (default: 250)',
    },
    examples: [
      'coxswain watch',
      'coxswain watch --newest --bell',
      'coxswain watch ~/.claude/projects/my-app/SESSION.jsonl',
      'coxswain watch run.jsonl --deadline 45m',
      'coxswain watch run.jsonl --on-stuck \'mail -s "$COXSWAIN_MESSAGE" me@example.org\'',
      'coxswain watch --background',
      'coxswain watch run.jsonl --json --until-end > events.ndjson',
    ],
    load: async () => (await import('./watch/watch-command.ts')).watchCommand,
  },
  {
    name: 'notify',
    summary: 'test the notifications of your own configuration',
    examples: ['coxswain notify test'],
    commands: [
      {
        name: 'test',
        summary: 'send one notification to the webhook, the command and the desktop of your own configuration',
        examples: ['coxswain notify test'],
        load: async () => (await import('./notify/notify-test-command.ts')).notifyTestCommand,
      },
    ],
  },
  {
    name: 'demo',
    summary: 'play and record a sample run that gets stuck and is steered',
    description:
      'Plays a sample run of an agent that gets stuck, live and steered: shows patterns and advice as they ' +
      'happen, then how the agent follows the advice and leaves the pattern, and records it. Repeating it changes nothing.',
    options: { ...TARGET_OPTION, '--fast': 'do not pause between calls (default without a terminal)' },
    examples: ['coxswain demo', 'coxswain demo --fast', 'coxswain demo --store sample.db'],
    load: async () => (await import('./demo/demo-command.ts')).demoCommand,
  },
  {
    name: 'init',
    summary: 'record and steer the sessions of your agent CLIs',
    description:
      'Adds the hook to the settings of agent CLIs, which records and steers their sessions from then on. Shows the files ' +
      'to change and asks once. Other hooks in these settings stay. Repeating it changes nothing.',
    arguments: {
      '[targets...]': 'claude-code, codex, copilot, gemini, opencode, pi or qwen-code (default: the installed ones)',
    },
    options: {
      '--user': 'change your own settings, for all projects, instead of this project’s',
      '--shared':
        'Claude Code: the project’s .claude/settings.json, which is committed, instead of .claude/settings.local.json',
      '--project <folder>': 'the project (default: this folder)',
      '--deadline <span>': 'also write a configuration with this deadline for each session, such as 45m',
      '--watch': 'only: start coxswain watch --background when you log in, by systemd or launchd',
      '--yes': 'do not ask',
      '--dry-run': 'show every line that would change, and stop',
      '--undo': 'restore the settings files as they were; from a file that has changed since, remove only the hooks',
    },
    examples: [
      'coxswain init',
      'coxswain init codex --user',
      'coxswain init claude-code --user --deadline 45m --yes',
      'coxswain init --watch',
      'coxswain init --undo',
    ],
    load: async () => (await import('./init/init-command.ts')).initCommand,
  },
  {
    name: 'mcp',
    summary: 'record and steer the calls of an MCP server; without one, answer an agent’s questions about its run',
    description:
      'With a COMMAND or --url: a proxy between an agent program and an MCP server. It records and analyses every call of a tool, with ' +
      "the server's annotations, and appends advice to results as one more text. Everything else passes unchanged. " +
      'Without either: a server with the tools acknowledge_advice, run_status and time_left, about the most recently ' +
      'active run of this project. It only reads the store: the hook records an acknowledgement when it sees the call.',
    arguments: { '[command...]': 'the server and its arguments, after --' },
    options: {
      '--url <url>': 'the address of a server that speaks streamable HTTP',
      '--header <line>': { text: 'a header for that server, such as "Authorization: Bearer …"', isRepeatable: true },
      '--token-file <file>': 'a file with the bearer token for that server; default: the variable COXSWAIN_MCP_TOKEN',
    },
    examples: [
      'coxswain mcp -- npx -y @modelcontextprotocol/server-filesystem .',
      'coxswain mcp --url https://example.com/mcp --token-file ~/.config/example-token',
      'claude mcp add coxswain -- npx coxswain mcp',
    ],
    load: async () => (await import('./mcp/mcp-command.ts')).mcpCommand,
  },
  {
    name: 'serve',
    summary: 'receive OpenTelemetry of agents as runs',
    description:
      'coxswain serve otlp receives spans and log events over HTTP (POST /v1/traces and /v1/logs) and records the runs of agents ' +
      'in them. It runs in the foreground until it is interrupted.',
    arguments: { '[action]': 'otlp' },
    options: {
      '--project <folder>': 'the project (default: this folder)',
      '--listen <host:port>': 'address to listen on (default: 127.0.0.1:4318)',
      '--token-file <file>': 'file with the token for requests (default on a loopback address: a token of the project)',
      '--no-token': 'let every program and user of this machine add runs; only on a loopback address',
      '--tls-cert <file>': 'certificate in PEM form; required unless the address is a loopback one',
      '--tls-key <file>': 'its key',
      '--pause <span>': 'record a trace as cut off after this time without a span (default: 30m)',
    },
    examples: ['coxswain serve otlp', 'coxswain serve otlp --listen 127.0.0.1:4319'],
    load: async () => (await import('./serve/serve-command.ts')).serveCommand,
  },
  {
    name: 'view',
    summary: 'show runs in the browser',
    description:
      'Shows runs as pages in the browser: what the agents did, where they got stuck, which advice they got and what ' +
      'followed it, live while they work. Takes stores, and files, folders and globs of any format that analyze reads; ' +
      'by default the stores of all your projects and the sessions of your agent programs. Only this machine can reach it, and it never changes the runs.',
    arguments: { '[paths...]': 'stores, files, folders, globs, or the number or id of one run' },
    options: {
      '--port <number>': 'the port to use (default: 7717, or the next free one)',
      '--no-open': 'print the address without opening a browser',
      '--project <name>':
        'only the stores of this project: its folder, or the name of its folder (default: every project)',
      '--run <run>': 'open the run with this id',
      '--call <number>': 'open it at this call, from 1 (default: its start)',
      '--labels <file>': 'the CSV file for labels of runs and calls (default: labels.csv in this folder)',
    },
    examples: [
      'coxswain view',
      "coxswain view 'runs/**/*.jsonl'",
      'coxswain view ~/.claude/projects/my-app/SESSION.jsonl --no-open --port 8080',
      'coxswain view run.jsonl --run RUN --call 12',
      'coxswain view runs.db --labels mine.csv',
    ],
    load: async () => (await import('./view/view-command.ts')).viewCommand,
  },
  {
    name: 'doctor',
    summary: 'check that sessions are recorded, and what prevents it',
    description:
      'Checks that sessions of this project are recorded. Each check is one line: ok, problem or unknown, with what to do. ' +
      'Sends one event through the hook command of the settings and deletes its records; ' +
      'changes nothing else. Exit code 1 if there is a problem.',
    options: {
      '--json': 'print one line of JSON',
      '--adapters': 'also print how each adapter of the library delivers advice',
    },
    examples: ['coxswain doctor', 'coxswain doctor --json'],
    load: async () => (await import('./doctor/doctor-command.ts')).doctorCommand,
  },
  {
    name: 'report',
    summary: 'report what the agents did, by default in the last 12 hours',
    description:
      'Shows what needs you first: sessions that wait, that failed or were cut off, whose check failed, that are stuck, that had a call refused or ask a question, that answered without a passed check, ' +
      'then what worked, one line per project. coxswain NUMBER opens one. Takes a store, or transcripts as analyze does; by default the ' +
      'stores of all your projects and the sessions that Claude Code, Codex, Copilot CLI, Gemini CLI, opencode, pi, Qwen Code, Kimi CLI, Kimi Code, goose and Aider keep on this machine, ' +
      'each run once. A run counts if its last record is recent enough. The cost is that of the host, else computed from model prices.',
    arguments: {
      '[paths...]': 'a store, or files, folders, globs of transcripts (default: every project and every agent program)',
    },
    options: {
      '--since <time>':
        'runs active since then: a span such as 12h or 7d, 22:00, yesterday, 2026-11-27, or all (default: all for named files, else 12h)',
      '--until <time>': 'runs whose last record is from before then, in the same form (default: now)',
      '--project <name>': 'only the runs of this project: its folder, or the name of its folder',
      '--all': 'list every session, not only the first screen',
      '--needs-me': 'list only the sessions that need you, each with its whole reason',
      '--json': 'print one line of JSON per run, then one with the totals',
      '--html <file>': 'write one self-contained page',
      '--markdown': 'print Markdown',
      '--by <group>': 'also count by person or agent (default: project)',
      '--to <address>': {
        text: 'send it without secrets to this webhook and print nothing; may be repeated',
        isRepeatable: true,
      },
    },
    examples: [
      'coxswain report',
      'coxswain report --needs-me',
      'coxswain report --since 22:00 --all',
      'coxswain report --since 7d --html week.html',
      "coxswain report 'runs/**/*.jsonl' --json",
      'coxswain report --to https://hooks.example.org/agents',
      'coxswain report postgres://USER@HOST/DATABASE --since 7d --by person --markdown',
    ],
    load: async () => (await import('./report/report-command.ts')).reportCommand,
  },
  {
    name: 'failures',
    summary: 'list the failures that come back, what they cost and what worked after them',
    description:
      'Lists the calls that failed in two or more sessions of a project and in most of those that ran them. Each has its ' +
      'sessions, the calls, time and money until something else worked, what worked, whether it still happens, and two examples to open.',
    arguments: {
      '[paths...]': 'a store, or files, folders, globs of transcripts (default: this project and every agent program)',
    },
    options: {
      '--since <time>': 'sessions active since then, as for report (default: all for named files, else 30d)',
      '--until <time>': 'sessions whose last record is from before then (default: now)',
      '--project <name>': 'only the runs of this project: its folder, or the name of its folder',
      '--json': 'print one line of JSON per cause',
    },
    examples: [
      'coxswain failures',
      'coxswain failures --since 7d --project api',
      "coxswain failures 'runs/**/*.jsonl' --json",
    ],
    load: async () => (await import('./failures/failures-command.ts')).failuresCommand,
  },
  {
    name: 'status',
    summary: 'print one line about the current run, for a status line',
    description:
      'Prints one line about the most recently active run of this project: calls, errors, its pattern, tokens, cost, the size of ' +
      'the context, the time left. For a shell, and for the statusLine of Claude Code, where it shows the current session. Always exit code 0. A template may contain ' +
      '{calls}, {errors}, {turns}, {tokens}, {cost}, {context}, {pattern}, {level}, {left}, {outcome}, {run}, {host} and {task}.',
    options: {
      '--json': 'print one line of JSON; null without a run',
      '--format <template>': 'print this template, with the names in braces replaced',
    },
    examples: ['coxswain status', "coxswain status --format '{calls} calls {pattern} {left}'"],
    load: async () => (await import('./status/status-main.ts')).statusMain,
  },
];
