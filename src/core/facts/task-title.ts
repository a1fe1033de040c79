import { printableCut, sharedPart } from '../base/printable.ts';
import { jsonOf, present } from '../base/json.ts';
import type { RunSummary } from './run-summary.ts';

/** Blocks that programs put around a task. Their text is not the user's. */
const WRAPPERS =
  /<(system-reminder|system_reminder|system_instruction|environment_context|environment_details|session_context|hook_context|user_instructions|INSTRUCTIONS|ide_opened_file|ide_selection|local-command-caveat|local-command-stdout|command-message|command-contents|permissions[\w ]*|collaboration_mode|skills?_instructions|current_datetime|sql_tables|bash-stdout|bash-stderr|task-notification)>[^]*?(?:<\/\1>|$)/gi;
/** A message of another agent of the team: words, or JSON of the program, of which only an assigned task has a subject. */
const TEAMMATE = /<teammate-message\b[^>]*>([^]*?)(?:<\/teammate-message>|$)/gi;
const SUBJECT = /^\s*\{[^]*?"subject":\s*("(?:[^"\\]|\\.)*")/;
/** A skill that pi puts before the words of the user. */
const SKILL = /<skill\b(?:[^>]*?\bname="([^"]*)")?[^>]*>[^]*?(?:<\/skill>|$)/gi;
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s;
const LINK = /\[([^\]\n]+)\]\([^)\s]+\)/g;
/** A line that is the path of a file. */
const PATH = /^\S*\/([^\s/]+\.\w+)$/;
/** What stands before the words of the user: rules of packages, and what an extension of pi and the automations of Codex put there. */
const BEFORE_WORDS =
  /^[^]*<!-- usage-rules-end -->(?=\s*[^\s<])|--- pi-extension-context:start ---[^]*?(?:--- pi-extension-context:end ---|$)|(?<=^Automation: [^\n]*)\n(?:(?:Automation (?:ID|memory)|Last run):[^\n]*(?:\n|$))+/g;
const COMMENT = /<!--[^]*?(?:-->|$)/g;
const COMMAND_NAME = /<command-name>\s*([^<]*?)\s*<\/command-name>/i;
const COMMAND_ARGS = /<command-args>([^]*?)<\/command-args>/i;
const TAG = /<\/?(?:user_query|user_request|task|prompt|request|query|instructions?|feedback|user_message|message)>/gi;
const OPENINGS: readonly RegExp[] = [
  /^implement (?:the following|this|the) plan(?::\s*|\s*\n\s*)/i,
  /^\[\[ ## user_query ## \]\]\s*/i,
  /^(?:\[Image #?\d+\]\s*)+/i,
  /^\[Read from: [^\]\n]*\]\s*/,
  // Editors put this before a request to Codex.
  /^#+ (?:files mentioned by the user|context from my ide setup|referenced chatgpt conversation|prior conversation with codex)\b(?:[^]*?\n#+ my request for codex:?\s*|[^\n]*\n)/i,
  /^#+ (?:my request for codex|task|request)[^\n]*\n/i,
  /^(?:please|hi|hello|hey)[,!.]?\s+(?:[-–—]\s+)?(?=[^\s-])/i,
  // An attached file.
  /^["'`]?@?(?:[a-z]:\\|~?\/)(?:(?:\\.|[^\s"'`\\])+\.(?:png|jpe?g|gif|webp|heic|bmp)|(?:private\/)?(?:tmp|var\/folders)\/\S+|\S*(?:\\\.gemini\\tmp|\\AppData\\Local\\Temp)\\\S+)["'`]?\s+(?=\S)/i,
  /^this session is being continued from a previous conversation[^\n]*\n?/i,
  /^(?:task|request|user|prompt|title|plan)\s*:\s*/i,
];
const NOISE =
  /^(?:```|[$❯➜] |> |at \S+ \(|\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|(?:ERROR|WARN|INFO|DEBUG|Traceback)\b|[-=*_#~]{3,}$|<\/?[\w-]+>$|[{}[\]();,]+$|"[\w-]+":\s|[\u2500-\u257f✦⏺⎿]|@\S+$|https?:\/\/\S+$|\/\S+\/\S+$)/;
const HEADINGS =
  /^(?:#+\s*)?(?:context|background|overview|objective|goal|role|instructions?|summary|description|problem)\s*:?\s*$/i;

/** The first line of something that was pasted before the request: a log, a prompt of a shell, XML or JSON. */
const PASTED =
  /^(?:[$❯➜\u2500-\u257f>] ?|(?:error|fatal|warning|hint|npm (?:err!|error|warn)|traceback|unhandled (?:error|rejection)|exception in thread)\b|\s*file "|\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|[{[]\s*(?:$|["{[])|<[?!\w])/i;
const FRAME = /^\s*[\u2500-\u257f]/;
const MAX_REQUEST_CHARS = 600;

/** The last paragraph, if something pasted stands before it. */
function requestBelow(text: string): string {
  const paragraphs = text.trim().split(/\n\s*\n/);
  const end = paragraphs.at(-1)?.trim() ?? '';
  // In the screen of an agent program the words of the user have the mark of its prompt.
  const last = FRAME.test(text) ? end.replace(/^> /, '') : end;
  const hasWords =
    /^[^\s{}[\]<>|]*\p{L}/u.test(last) && /\p{Lo}|[?!]$|\S\s+\S+\s+\S/u.test(last) && !last.endsWith(':');
  const isRequest = paragraphs.length > 1 && last.length <= MAX_REQUEST_CHARS && hasWords;
  return isRequest && PASTED.test(text) && !PASTED.test(last) && !NOISE.test(last) ? last : text;
}

/** Words that ask for nothing. */
const GREETING =
  /^(?:(?:hi+|hello|hell?o+|he+y+|hiya|yo|ahoy|howdy|good (?:morning|afternoon|evening)|how are you|hola|buenas|buenos días|ol[áa]|oi|bom dia|bonjour|salut|coucou|hallo|guten (?:morgen|tag)|moin|ciao|buongiorno|xin ch[àa]o|ch[àa]o|halo|hej|merhaba|selam|namaste|नमस्ते|привет|здравствуйте|你好|您好|嗨|哈喽|早上好|こんにちは|おはよう|もしもし|안녕(?:하세요)?|مرحبا|there|claude|codex|gemini|all|ping|test(?:ing)?)[\s,!.?！，。？~👋]*)+$/iu;
/** Words that answer, or say only that the agent shall go on. */
const REPLY =
  /^(?:[a-z\d]|ok(?:ay)?|yes|yep|yeah|sure|no|nope|thanks|thank you|nothing|i do(?:n['’]?| no)t have anything to add|(?:(?:ok(?:ay)?|yes|please),? )?(?:continue|go on|go ahead|proceed|resume)|weiter|continua|continúa|continuar|继续|繼續|好的?|是的?|可以|続けて|はい|계속(?:해줘)?|네|продолжай|продолжи|да|tiếp tục|tiep tuc|lanjut)[\s.!。！]*$/iu;

/** Commands that programs answer themselves. */
const OWN_COMMANDS: ReadonlySet<string> = new Set(
  '/clear /compact /config /context /cost /doctor /effort /exit /export /help /hooks /ide /login /logout /mcp /memory /model /new /permissions /plugin /quit /rename /resume /rewind /stats /status /theme /upgrade /usage /vim /voice'.split(
    ' ',
  ),
);
const BARE_COMMAND = /^[/$][a-z][\w:.-]{0,79}$/i;

/** Returns true for a message that asks for something in words: not a greeting, a mark, a command without arguments or an empty template. */
export function saysTask(text: string | undefined): text is string {
  const { words } = askedIn(text ?? '');
  const said = saidIn(text ?? '');
  const asksNothing = GREETING.test(said) || REPLY.test(said) || isOwnCommand(`/${said.toLowerCase()}`);
  return words !== undefined && !asksNothing && !ATTACHED.test(words);
}

/** Returns the name of a command that was given without arguments, and '' for a template without words. */
export function bareCommand(text: string): string | undefined {
  const { name, words } = askedIn(text);
  if (name === undefined || words !== undefined || isOwnCommand(name)) return undefined;
  return /^[/$]/.test(name) ? name : '';
}

export function isOwnCommand(name: string): boolean {
  return OWN_COMMANDS.has(name);
}

/** A path alone. */
const ATTACHED = /^["'`]?@?(?:[A-Za-z]:\\|~?\/)\S+\.(?:png|jpe?g|gif|webp|heic|bmp)["'`]?$/i;

/** Spec Kit puts the words of the user, which may be none, before its template. */
const USER_INPUT =
  /^## (?:User Input\s+```\w*|[^\n]{1,40}\s+```text)\s([^]*?)(?:```|\n…\n)(?:\s*You \*\*MUST\*\*[^\n]*\n)?(?:\s*#+ [^\n]*\n)?/;
/** An extension of pi puts them into its own. */
const NATIVE_COMMAND =
  /^You are executing the native (\/[^\n]+?) workflow\b[^]*?\n## User input from the slash command\n([^]*?)(?:\n## |$)/;
/** The head of a file with a prompt. */
const FRONT_MATTER = /^---\r?\n(?:[^]*?\n)??description:[ \t]*["']?([^\r\n]+?)["']?\r?\n(?:[^]*?\n)??---\r?\n\s*/;

export function slashCommand(text: string): { readonly name: string; readonly args: string } | undefined {
  const name = COMMAND_NAME.exec(text)?.[1];
  if (name === undefined) return undefined;
  return { name: name.startsWith('/') ? name : `/${name}`, args: COMMAND_ARGS.exec(text)?.[1]?.trim() ?? '' };
}

/** Returns the words of a message without the blocks that programs put around them. */
export function withoutWrappers(text: string): string {
  return text
    .replaceAll(TEAMMATE, (_, inner: string) => {
      const subject = jsonOf(SUBJECT.exec(inner)?.[1] ?? '');
      return `\n${/^\s*\{/.test(inner) ? (typeof subject === 'string' ? subject : '') : inner}\n`;
    })
    .replaceAll(WRAPPERS, '\n')
    .replaceAll(BEFORE_WORDS, '\n')
    .replaceAll(SKILL, '\n')
    .replaceAll(COMMENT, '\n')
    .trim();
}

function withoutOpenings(whole: string): string {
  let text = whole;
  for (let round = 0; round < OPENINGS.length; round += 1)
    for (const opening of OPENINGS) text = text.replace(opening, '').trim();
  return text;
}

/** A greeting in a line of its own. */
const GREETING_LINE = new RegExp(`${GREETING.source.slice(0, -1)}\\n(?=\\p{L})`, 'iu');

function saidIn(text: string): string {
  return withoutOpenings(
    withoutWrappers(text.slice(0, 20_000)).replaceAll(TAG, ' ').trim().replace(QUOTED, '$1').trim(),
  );
}

/** The first line in the user's words, without the wrappers of programs. A slash command without other words is its own title. */
export function taskTitle(task: string): string | undefined {
  const { name, words } = askedIn(task);
  return words ?? name;
}

/** The first line in the words of the user, and what names a command or a template without words. */
function askedIn(task: string): { readonly name?: string | undefined; readonly words?: string | undefined } {
  const start = task.slice(0, 20_000);
  const command = slashCommand(start);
  if (command?.args === '') return command;
  if (command !== undefined) return { words: `${command.name} ${command.args.split('\n', 1)[0] ?? ''}`.trim() };
  const shown = saidIn(start);
  const [, skill] = shown === '' ? ([...start.matchAll(SKILL)][0] ?? []) : [];
  if (skill !== undefined) return { name: `/skill:${skill}` };
  const [, native, given = ''] = NATIVE_COMMAND.exec(shown) ?? [];
  if (native !== undefined) return given.trim() === '(none)' ? { name: native } : { words: firstLine(given) };
  const [head = '', description] = FRONT_MATTER.exec(shown) ?? [];
  const body = shown.slice(head.length);
  const [template = '', input = ''] = USER_INPUT.exec(body) ?? [];
  if (template === '' && description !== undefined) return { words: description };
  // A template that was not filled in may have the words right below its last line.
  const [before = '', last = ''] = body.split('\n').slice(-2);
  const isBelow = input.trim() === '$ARGUMENTS' && before.trim() !== '' && !/^[-*#>\d\s]/.test(last);
  const filled = input.trim() === '$ARGUMENTS' ? '' : input.trim();
  const written = (isBelow ? last : filled) || body.slice(template.length);
  if (template !== '' && !isBelow && filled === '') return { name: description ?? firstLine(written) };
  const [first = '', ...others] = written.split('\n');
  if (!BARE_COMMAND.test(first.trim())) return { words: firstLine(written) };
  const below = firstLine(others.join('\n'));
  return below === undefined || BARE_COMMAND.test(below)
    ? { name: first.trim() }
    : { words: `${first.trim()}: ${below}` };
}

/** A line that stops inside a sentence. */
const STOPS_INSIDE = /(?:,|\b(?:to|the|an|of|and|or|with|for|from|into|my|your|our|is|are|be|by|than|if|because))$/i;
/** A line that was broken at the edge of a screen. */
const WRAPPED = /^.{50,}[\p{L}\d)]$/u;
const MAX_TITLE_CHARS = 200;

function firstLine(written: string): string | undefined {
  const text = withoutOpenings(requestBelow(written.replaceAll(/```[^]*?(?:```|$)/g, '\n').trim() || written));
  const lines = text
    .replace(GREETING_LINE, '')
    .split('\n')
    .map((line) => line.trim());
  const first = lines.find((line) => /\p{L}/u.test(line) && !NOISE.test(line) && !HEADINGS.test(line));
  let line = first ?? lines.find((one) => /[\p{L}\p{N}]/u.test(one));
  if (line === undefined) return undefined;
  let index = lines.indexOf(line) + 1;
  const goesOn = (next: string): boolean =>
    (STOPS_INSIDE.test(line ?? '') && /^[\p{L}\p{N}]/u.test(next)) ||
    (WRAPPED.test(line ?? '') && /^\p{Ll}/u.test(next));
  for (; line.length < MAX_TITLE_CHARS && goesOn(lines[index] ?? ''); index += 1) line = `${line} ${lines[index]}`;
  // A line that ends with a colon introduces the next one.
  const next = line.endsWith(':')
    ? lines.slice(index).find((one) => /[\p{L}\p{N}]/u.test(one) && !/^[$❯➜>] /.test(one))
    : undefined;
  return (next === undefined ? line : `${line} ${next.replace(/^[^\p{L}\p{N}/]+/u, '')}`)
    .replace(/^(?:#+|>)\s*/, '')
    .replace(/^(?:task|request|plan|title)\s*:\s*/i, '')
    .replaceAll(/\*\*|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|`/g, '')
    .replaceAll(LINK, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^"([^"]+)"$/, '$1');
}

/** Number of characters that remain of the part that several tasks share. */
const SHARED_CHARS = 24;

/** The start of up to `chars`, or, for tasks that begin alike, the start of the common part and what tells them apart. */
export function titlesOf(tasks: Iterable<string | undefined>, chars: number): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  const known = new Set([...tasks].filter((task) => task !== undefined));
  for (const [title, alike] of Map.groupBy(known, (task) => taskTitle(task) ?? task)) {
    // Tasks of a benchmark begin with the same lines.
    const texts = alike.length === 1 ? alike : alike.map(withoutWrappers);
    const shared = alike.length === 1 ? '' : texts.reduce(sharedPart).replace(/\S+$/, '');
    for (const [index, task] of alike.entries()) {
      const left = (texts[index] ?? '').slice(shared.length);
      // Where only the name of a file is another, it tells them apart.
      const rest = shared === '' ? undefined : (PATH.exec(left.split('\n', 1)[0] ?? '')?.[1] ?? taskTitle(left));
      words.set(task, [title, rest].filter(Boolean).join(' '));
    }
  }
  const titles = distinctTitles(words.values(), chars);
  return new Map([...words].map(([task, title]) => [task, titles.get(title) ?? title]));
}

function distinctTitles(tasks: Iterable<string>, chars: number): ReadonlyMap<string, string> {
  const distinctTasks = new Set(tasks);
  const titles = new Map<string, string>();
  for (const [start, alike] of Map.groupBy(distinctTasks, (task) => printableCut(task, chars))) {
    const [first = ''] = alike;
    const shared = alike.reduce(sharedPart, first).replace(/\S+$/, '');
    const rests = new Map(alike.map((task) => [task, task.slice(shared.length)]));
    const canTell = alike.length > 1 && shared.length > SHARED_CHARS;
    const inner = canTell ? distinctTitles(rests.values(), chars - SHARED_CHARS - 1) : undefined;
    for (const [task, rest] of rests) {
      const title = inner?.get(rest);
      titles.set(task, title === undefined || rest === '' ? start : `${printableCut(shared, SHARED_CHARS)} ${title}`);
    }
  }
  return titles;
}

const MAX_LEVELS = 100;

/** A run from OpenTelemetry never stands for a transcript: any program that exports spans chooses the session that they name. */
export class StoredNames {
  readonly #runs = new Set<string>();
  readonly #idOfName = new Map<string, string>();
  readonly #telemetry = new Map<string, Pick<RunSummary, 'conversationId' | 'parentRunId'>>();
  readonly #transcripts = new Set<string>();

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  add({ conversationId, format, parentRunId, runId }: RunSummary): void {
    this.#runs.add(runId);
    if (format === 'otlp') {
      this.#telemetry.set(runId, present({ conversationId, parentRunId }));
      return;
    }
    this.#idOfName.set(nameOf(runId), runId);
    const isSession = parentRunId === undefined && conversationId !== undefined;
    if (isSession && !this.#idOfName.has(conversationId)) this.#idOfName.set(conversationId, runId);
  }

  /** Returns the id in the store for a run of a transcript; undefined if the store does not contain the run. */
  idOf(transcriptRunId: string): string | undefined {
    return this.#idOfName.get(nameOf(transcriptRunId));
  }

  addTranscript(runId: string): void {
    this.#transcripts.add(nameOf(runId));
  }

  /** Returns true for a run from OpenTelemetry whose session is recorded itself, so that its calls would count twice. */
  repeatsSession(runId: string): boolean {
    let run = this.#telemetry.get(runId);
    // A child run may not name the session. The parents may form a cycle.
    for (let level = 0; level < MAX_LEVELS && run !== undefined && run.conversationId === undefined; level += 1) {
      run = this.#telemetry.get(run.parentRunId ?? '');
    }
    if (run?.conversationId === undefined) return false;
    const session = nameOf(run.conversationId);
    return this.#idOfName.has(session) || this.#transcripts.has(session);
  }
}

/** Hooks name a subagent `SESSION/ID`; transcripts name it `SESSION/agent-ID`, or `ID` as a session. */
function nameOf(runId: string): string {
  return withoutNumber(runId).replace('/agent-', '/').replace(SESSION_BEFORE_OWN, '');
}

/** The session before the id of a subagent that is a session of its own, as in Codex. */
const SESSION_BEFORE_OWN = /^.*\/(?=[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$)/;

/** Returns the id of a run without the number that a session in several files has after it. */
export function withoutNumber(runId: string): string {
  return runId.replace(/#\d+$/, '');
}
