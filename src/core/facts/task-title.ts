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
/** What an extension of pi and the automations of Codex put before the words of the user. */
const BEFORE_WORDS =
  /--- pi-extension-context:start ---[^]*?(?:--- pi-extension-context:end ---|$)|(?<=^Automation: [^\n]*)\n(?:(?:Automation (?:ID|memory)|Last run):[^\n]*(?:\n|$))+/g;
const COMMENT = /<!--[^]*?(?:-->|$)/g;
const COMMAND_NAME = /<command-name>\s*([^<]*?)\s*<\/command-name>/i;
const COMMAND_ARGS = /<command-args>([^]*?)<\/command-args>/i;
const TAG = /<\/?(?:user_query|user_request|task|prompt|request|query|instructions?|feedback|user_message|message)>/gi;
const OPENINGS: readonly RegExp[] = [
  /^implement (?:the following|this|the) plan(?::\s*|\s*\n\s*)/i,
  /^\[\[ ## user_query ## \]\]\s*/i,
  /^(?:\[Image #?\d+\]\s*)+/i,
  /^\[Read from: [^\]\n]*\]\s*/,
  // What programs for Codex put before the request.
  /^#+ (?:files mentioned by the user|context from my ide setup|referenced chatgpt conversation|prior conversation with codex)\b(?:[^]*?\n#+ my request for codex:?\s*|[^\n]*\n)/i,
  /^#+ (?:my request for codex|task|request)[^\n]*\n/i,
  /^(?:please|hi|hello|hey)[,!.]?\s+(?=\S)/i,
  /^this session is being continued from a previous conversation[^\n]*\n?/i,
  /^(?:task|request|user|prompt|title|plan)\s*:\s*/i,
];
const NOISE =
  /^(?:```|[$❯➜] |> |at \S+ \(|\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|(?:ERROR|WARN|INFO|DEBUG|Traceback)\b|[-=*_#~]{3,}$|<\/?[\w-]+>$|[{}[\]();,]+$|@\S+$|https?:\/\/\S+$|\/\S+\/\S+$)/;
const HEADINGS =
  /^(?:#+\s*)?(?:context|background|overview|objective|goal|role|instructions?|summary|description|problem)\s*:?\s*$/i;

/** The first line of something that was pasted before the request: a log, a prompt of a shell, XML or JSON. */
const PASTED =
  /^(?:[$❯➜┃>] ?|(?:error|fatal|warning|hint|npm (?:err!|error|warn)|traceback|unhandled (?:error|rejection)|exception in thread)\b|\s*file "|\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|[{[]\s*(?:$|["{[])|<[?!\w])/i;
const MAX_REQUEST_CHARS = 600;

/** The last paragraph, if something pasted stands before it. */
function requestBelow(text: string): string {
  const paragraphs = text.trim().split(/\n\s*\n/);
  const last = paragraphs.at(-1)?.trim() ?? '';
  const hasWords =
    /^[^\s{}[\]<>|]*\p{L}/u.test(last) && /\p{Lo}|[?!]$|\S\s+\S+\s+\S/u.test(last) && !last.endsWith(':');
  const isRequest = paragraphs.length > 1 && last.length <= MAX_REQUEST_CHARS && hasWords;
  return isRequest && PASTED.test(text) && !PASTED.test(last) && !NOISE.test(last) ? last : text;
}

/** Words that ask for nothing. */
const GREETING =
  /^(?:(?:hi|hello|hey|hiya|yo|ahoy|howdy|good (?:morning|afternoon|evening)|how are you|hola|buenas|ol[áa]|oi|bom dia|bonjour|salut|coucou|hallo|guten (?:morgen|tag)|moin|ciao|buongiorno|привет|здравствуйте|你好|您好|嗨|哈喽|早上好|こんにちは|おはよう|もしもし|안녕(?:하세요)?|مرحبا|there|claude|codex|gemini|all|ping|test)[\s,!.?！，。？~👋]*)+$/iu;

/** Returns true for a message that asks for something: neither empty, nor a greeting or a mark alone. */
export function saysTask(text: string | undefined): text is string {
  return text !== undefined && !GREETING.test(text.trim()) && taskTitle(text) !== undefined;
}

/** Spec Kit puts the words of the user, which may be none, before its template. */
const USER_INPUT = /^## User Input\s+```\w*\s([^]*?)(?:```|\n…\n)(?:\s*You \*\*MUST\*\*[^\n]*\n)?(?:\s*#+ [^\n]*\n)?/;

export function slashCommand(text: string): { readonly name: string; readonly args: string } | undefined {
  const name = COMMAND_NAME.exec(text)?.[1];
  return name === undefined ? undefined : { name, args: COMMAND_ARGS.exec(text)?.[1]?.trim() ?? '' };
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

/** The first line in the user's words, without the wrappers of programs. A slash command without other words is its own title. */
export function taskTitle(task: string): string | undefined {
  const start = task.slice(0, 20_000);
  const command = slashCommand(start);
  if (command !== undefined) return `${command.name} ${command.args.split('\n', 1)[0] ?? ''}`.trim();
  const shown = withoutOpenings(withoutWrappers(start).replaceAll(TAG, ' ').trim().replace(QUOTED, '$1').trim());
  const [, skill] = shown === '' ? ([...start.matchAll(SKILL)][0] ?? []) : [];
  if (skill !== undefined) return `/skill:${skill}`;
  const [template = '', input = ''] = USER_INPUT.exec(shown) ?? [];
  // A template that was not filled in may have the words right below its last line.
  const [before = '', last = ''] = shown.split('\n').slice(-2);
  const isBelow = input.trim() === '$ARGUMENTS' && before.trim() !== '' && !/^[-*#>\d\s]/.test(last);
  const filled = input.trim() === '$ARGUMENTS' ? '' : input.trim();
  const written = (isBelow ? last : filled) || shown.slice(template.length);
  const text = withoutOpenings(requestBelow(written.replaceAll(/```[^]*?(?:```|$)/g, '\n').trim() || written));
  const lines = text.split('\n').map((line) => line.trim());
  const first = lines.find((line) => /\p{L}/u.test(line) && !NOISE.test(line) && !HEADINGS.test(line));
  const line = first ?? lines.find((one) => /[\p{L}\p{N}]/u.test(one));
  // A line that ends with a colon introduces the next one.
  const next =
    line?.endsWith(':') === true
      ? lines.slice(lines.indexOf(line) + 1).find((one) => /[\p{L}\p{N}]/u.test(one) && !/^[$❯➜>] /.test(one))
      : undefined;
  return (next === undefined ? line : `${line} ${next.replace(/^[^\p{L}\p{N}/]+/u, '')}`)
    ?.replace(/^#+\s*/, '')
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
