/** Blocks that programs put around a task. Their text is not the user's. */
const WRAPPERS =
  /<(system-reminder|system_reminder|environment_context|environment_details|session_context|hook_context|user_instructions|INSTRUCTIONS|ide_opened_file|ide_selection|local-command-caveat|local-command-stdout|command-message|command-contents|permissions[\w ]*|collaboration_mode|skills?_instructions|current_datetime|sql_tables|bash-stdout|bash-stderr|task-notification)>[^]*?(?:<\/\1>|$)/gi;
const COMMAND_NAME = /<command-name>\s*([^<]*?)\s*<\/command-name>/i;
const COMMAND_ARGS = /<command-args>([^]*?)<\/command-args>/i;
/** Tags whose text is the user's. */
const TAG = /<\/?(?:user_query|user_request|task|prompt|request|query|instructions?|feedback|user_message|message)>/gi;
/** Openings that say nothing about the task. */
const OPENINGS: readonly RegExp[] = [
  /^implement the following plan:?\s*/i,
  /^\[\[ ## user_query ## \]\]\s*/i,
  /^#+ (?:files mentioned by the user|my request for codex|task|request|context from my ide setup)[^\n]*\n/i,
  /^(?:please|hi|hello|hey)[,!.]?\s+/i,
  /^this session is being continued from a previous conversation[^\n]*\n?/i,
  /^(?:task|request|user|prompt|title|plan)\s*:\s*/i,
];
/** Lines that are not written by a person for a person: logs, code fences, paths, timestamps, quotes. */
const NOISE =
  /^(?:```|\$ |> |at \S+ \(|\[?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|(?:ERROR|WARN|INFO|DEBUG|Traceback)\b|[-=*_#~]{3,}$|[{}[\]();,]+$|@\S+$|https?:\/\/\S+$|\/\S+\/\S+$)/;
const HEADINGS =
  /^(?:#+\s*)?(?:context|background|overview|objective|goal|instructions?|summary|description|problem)\s*:?\s*$/i;

/** Returns the slash command that a program stored in tags: its name with the slash, and the words after it. */
export function slashCommand(text: string): { readonly name: string; readonly args: string } | undefined {
  const name = COMMAND_NAME.exec(text)?.[1];
  return name === undefined ? undefined : { name, args: COMMAND_ARGS.exec(text)?.[1]?.trim() ?? '' };
}

/**
 * Returns the title of a task: the first line in the user's words, without the wrappers of programs. A slash command without other words
 * is its own title. Undefined if nothing is left.
 */
export function taskTitle(task: string): string | undefined {
  const start = task.slice(0, 20_000);
  const command = slashCommand(start);
  if (command !== undefined) return `${command.name} ${command.args.split('\n', 1)[0] ?? ''}`.trim();
  const written = start.replaceAll(WRAPPERS, '\n').replaceAll(TAG, ' ').trim();
  let text = written.replaceAll(/```[^]*?(?:```|$)/g, '\n').trim() || written;
  for (let round = 0; round < OPENINGS.length; round += 1)
    for (const opening of OPENINGS) text = text.replace(opening, '').trim();
  const lines = text.split('\n').map((line) => line.trim());
  const first = lines.find((line) => /\p{L}/u.test(line) && !NOISE.test(line) && !HEADINGS.test(line));
  const line = first ?? lines.find((one) => /[\p{L}\p{N}]/u.test(one));
  return line
    ?.replace(/^#+\s*/, '')
    .replace(/^(?:task|request|plan|title)\s*:\s*/i, '')
    .replaceAll(/\*\*|__|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
