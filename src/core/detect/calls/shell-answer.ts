import { wordSet } from '../../base/word-set.ts';
import { isJsonObject, jsonOf, type Json } from '../../base/json.ts';
import { resultText } from './answer-reading.ts';
import type { Command, SyntaxNode } from 'unbash';
import { PROJECT_SCRIPT } from './shell-program.ts';
import { canonicalJson } from '../../base/canonical-json.ts';

export interface ShellAnswer {
  readonly text: string;
  readonly exitCode: number;
}

const EXIT_KEYS = ['exit_code', 'exitCode', 'returncode', 'return_code', 'exit_status'] as const;
const PRINTED_KEYS = ['output', 'stdout', 'stderr'] as const;
/** Matches JSON text that may contain an exit code. Other texts are not parsed. */
const MAY_CONTAIN_CODE = /"(?:exit_?(?:code|status)|return_?code)"\s*:/i;
const SEARCHED_CHARS = 600;
/** What a harness writes if a program printed nothing: `(no output)`, `Tool ran without output or errors`. */
const NOTHING_PRINTED =
  /^\((?:empty|none)\)$|^(?!\W*error)[^\d:"'\n]{0,60}\b(?:no|without|any) output(?: or errors?)?(?: (?:was )?(?:produced|generated|returned|captured))?[\s\])>.]*$/i;
const PLACEHOLDER_CHARS = 80;

/** Codex, mini-SWE-agent, Gemini CLI and Cline. The output of a running command has no exit code. */
const HEADED_FORMATS: readonly RegExp[] = [
  /^(?:Command: [^]{0,20000}?\n)??(?=Exit code: \d|Chunk ID: |Wall time: )(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?<code>\d+)\n)?Wall time: [^\n]*\n(?:Process (?:exited with code (?<exit>\d+)|running with session ID \d+)\n)?(?:[^\n]*\n){0,2}?Output:(?:\n|$)(?<text>[^]*)$/,
  /^failed in sandbox \w+ with execution error: sandbox denied exec error, exit code: (?<code>\d+), stdout: (?<text>[^]*?), stderr: (?<stderr>[^]*)$/,
  /^failed in sandbox \w+ with execution error: Denied \{ output: ExecToolCallOutput \{ exit_code: (?<code>\d+), stdout: StreamOutput \{ text: "(?<text>(?:[^"\\]|\\.)*)"[^]*?stderr: StreamOutput \{ text: "(?<stderr>(?:[^"\\]|\\.)*)"/,
  /^<(?:return_?code|exit_?code)>(?<code>\d+)<\/\w+>\s*<(?:output|stdout)>\n?(?<text>[^]*?)\n?(?:<\/(?:output|stdout)>\s*)?(?:<stderr>\n?(?<stderr>[^]*?)\n?<\/stderr>\s*)?$/,
  /^<(?:output|stdout)>\n?(?<text>[^]*?)\n?<\/(?:output|stdout)>\s*(?:<stderr>\n?(?<stderr>[^]*?)\n?<\/stderr>\s*)?<(?:return_?code|exit_?code)>(?<code>\d+)<\/\w+>\s*$/,
  /^(?:<untrusted_context>\n)?(?=Command: |Output: )[^]*?(?:Stdout|Output): (?<text>[^]*?)(?:\nStderr: (?<stderr>[^]*?))?\n(?:Error: [^\n]*\n)?Exit Code: (?:(?<code>\d+)|\(none\))(?:\n[A-Z][\w ]*: [^\n]*)*\s*(?:<\/untrusted_context>\s*)?$/,
  /^Command (?:failed|exited) with exit code (?<code>\d+)\.?(?:\nOutput:(?:\n|$)(?<text>[^]*))?$/,
];
/** Exit codes in the first line, and in the last lines in brackets or as part of a failure message. */
const FIRST_LINE =
  /^(?:Error: )?(?:(?:The )?(?:[Pp]rocess|[Cc]ommand|[Ss]hell) )?[Ee]xit(?:ed)?(?: with)?(?: exit)? (?:code|status):? (?<code>\d+)\.?(?:\n(?<text>[^]*))?$/;
const LAST_LINES =
  /(?:^|\n)(?:[[<(][^\n]{0,80}\b[Ee]xit(?:ed with)? (?:code|status):? -?\d+\b[^\n]{0,20}[\])>](?:\n\[[^\n]*\])*|(?:(?:The )?(?:[Pp]rocess|[Cc]ommand|[Ss]hell)[^\n]{0,20} )?[Ee]xit(?:ed)?(?: with)?(?: exit)? (?:code|status):? [1-9]\d*\.?|Command '[^\n]{1,200}' returned non-zero exit status \d+\.)\s*$/;
const CODES = /(?:code|status):? (-?\d+)/g;

/** `{output, metadata: {exit_code}}`, `{stdout, stderr, exit_code}`, as object or text, and the formats above. Running: code 0. */
export function shellAnswer(result: Json): ShellAnswer | undefined {
  const sections = typeof result === 'string' ? readTextFormat(result) : undefined;
  if (sections !== undefined) return sections;
  const object = typeof result === 'string' ? parseObject(result) : result;
  if (!isJsonObject(object)) return undefined;
  const exitCode = exitCodeOf(object) ?? exitCodeOf(object['metadata']);
  const printed = PRINTED_KEYS.map((name) => object[name]).filter((text) => typeof text === 'string');
  return exitCode === undefined || printed.length === 0 ? undefined : joinOutput(printed, exitCode);
}

/** Returns the text of a result; of JSON with an exit code, and of a failure in a sandbox, what the command printed. The headers of other formats stay. */
export function printedIn(result: Json): string {
  const text = resultText(result);
  return /^(?:\{|failed in sandbox )/.test(text) ? (shellAnswer(text)?.text ?? text) : text;
}

function readTextFormat(text: string): ShellAnswer | undefined {
  for (const form of HEADED_FORMATS) {
    const groups = form.exec(text)?.groups;
    if (groups !== undefined)
      return joinOutput([groups['text'], groups['stderr']], Number(groups['code'] ?? groups['exit'] ?? 0));
  }
  const firstLine = FIRST_LINE.exec(text)?.groups;
  if (firstLine !== undefined) return joinOutput([firstLine['text']], Number(firstLine['code']));
  const tail = text.slice(-SEARCHED_CHARS);
  // Each form below has this word.
  if (!tail.includes('xit')) return undefined;
  const lastLines = LAST_LINES.exec(tail);
  if (lastLines === null) return undefined;
  // Uses the last code: the output of a killed command may come before it.
  const code = Number([...lastLines[0].matchAll(CODES)].at(-1)?.[1]);
  return joinOutput([text.slice(0, text.length - tail.length + lastLines.index)], Math.max(0, code));
}

export function printedText(text: string): string {
  return text.length <= PLACEHOLDER_CHARS && NOTHING_PRINTED.test(text.trim()) ? '' : text;
}

function joinOutput(printed: readonly (string | undefined)[], exitCode: number): ShellAnswer {
  const texts = printed.map((text) => printedText(text ?? '')).filter((text) => text !== '');
  return { text: texts.join('\n'), exitCode };
}

function exitCodeOf(value: unknown): number | undefined {
  if (!isJsonObject(value)) return undefined;
  const exitCode = EXIT_KEYS.map((name) => value[name]).find((code) => typeof code === 'number');
  return typeof exitCode === 'number' ? exitCode : undefined;
}

function parseObject(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  if (!MAY_CONTAIN_CODE.test(text.slice(0, SEARCHED_CHARS)) && !MAY_CONTAIN_CODE.test(text.slice(-SEARCHED_CHARS)))
    return undefined;
  return jsonOf(text);
}

/** Programs whose exit code 1 means "no": nothing found, a difference, a false condition. */
const ANSWER_WITH_1 = wordSet(
  'grep egrep fgrep rg ag diff cmp test [ false which type findstr where fc pgrep pidof lsof mountpoint',
);
/** Other commands whose exit codes are answers. */
const ANSWERS: readonly (readonly [command: RegExp, codes: readonly number[]])[] = [
  [
    /^command -[vV]\b|^(?:rpm|pacman) -Q|^rpm -q|^dpkg(?:-query)? -|^pip3? show\b|^npm (?:outdated|ls)\b|^jq .*?-\w*e|^kubectl diff\b|^git (?:-\S+ \S+ )*(?:grep|check-ignore|show-ref|config|symbolic-ref|cat-file -e|merge-base --is-ancestor)\b|^git .*?\b(?:diff\b.*? --(?:exit-code|quiet|no-index)|rev-parse\b.*? --verify)\b/,
    [1],
  ],
  // Its checks are pending.
  [/^gh pr checks\b/, [8]],
  [/^systemctl (?:-\S+ )*is-|^service \S+ status\b/, [1, 3, 4]],
  [/^xargs (?:-\S+ (?:\d+ )?)*(?:grep|egrep|fgrep|rg|test)\b/, [1, 123]],
];

/** Returns the exit codes other than 0 by which a command answers a question, so that they report no failure. */
export function answerCodes(words: readonly string[]): readonly number[] {
  const [path = '', ...args] = words;
  const program = path.slice(path.lastIndexOf('/') + 1).replace(/\.exe$/i, '');
  if (PROJECT_SCRIPT.test(path)) return [];
  if (ANSWER_WITH_1.has(program)) return [1];
  const line = [program, ...args].join(' ');
  return ANSWERS.find(([command]) => command.test(line))?.[1] ?? [];
}

/** What may give a line its exit code: a command, or a condition, which is true or false. */
export type Exiting = Command | 'condition' | 'unknown';

/** Returns the commands that may give a part of a script an exit code other than 0, the last one first. */
export function exitingCommands(node: SyntaxNode | undefined): readonly Exiting[] {
  switch (node?.type) {
    case 'Script':
    case 'CompoundList':
      return exitingCommands(node.commands.at(-1));
    case 'Statement':
    case 'Redirected':
      return exitingCommands(node.command);
    case 'Subshell':
    case 'BraceGroup':
    case 'For':
    case 'While':
      return exitingCommands(node.body);
    case 'If':
      return [node.else, ...node.elif.map((branch) => branch.then), node.then].flatMap((part) =>
        part === undefined ? [] : exitingCommands(part),
      );
    case 'Pipeline':
      return node.prefixes.some(({ type }) => type === 'Negation')
        ? ['condition']
        : exitingCommands(node.commands.at(-1));
    case 'AndOr': {
      // `a && b` ends with the code of `a` or `b`, and `a || b` with that of `b`.
      const first = node.operators.lastIndexOf('||') + 1;
      return node.commands.slice(first).reverse().flatMap(exitingCommands);
    }
    case 'TestCommand':
    case 'ArithmeticCommand':
      return ['condition'];
    case 'Command':
      return [node];
    default:
      return ['unknown'];
  }
}

interface OpenedAnswer {
  readonly result: Json;
  readonly failed: boolean;
}

const MCP_MEMBER = /^(?:content|is_?error|_?meta|structuredContent|type)$/i;
/** Field names that hold a result, alone or in an envelope. */
const PAYLOAD = /^(?:result|output|text|content|response|answer|observation|value|data|stdout|payload|body)$/;
const ENVELOPE =
  /^(?:success|ok|status|code|errors?|message|_?meta|(?:request|trace)_id|took(?:_ms)?|duration(?:_ms)?|timestamp)$/i;
const SUCCESS_VALUES: ReadonlySet<unknown> = new Set([true, 0, 200, 'ok', 'OK', 'success', undefined]);
const FAILURE_VALUES: ReadonlySet<unknown> = new Set([false, 'error', 'failed', 'failure']);
const WRAPPINGS: readonly RegExp[] = [
  /^\s*<(?:tool_use_)?error>([^]*)<\/\w+>\s*$/,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\]?:? ([^]*)$/,
  /^(?:Observation|Result|Output): ?([^]*)$/,
  // A message of LangChain in Python's form: content='…' name='search' id='7c2e' tool_call_id='call_1'
  /^content=['"]([^]*?)['"](?: \w+=(?:'[^']*'|"[^"]*"|\{[^}]*\}|\w+))+\s*$/,
  /^\s*<(?:output|stdout|result)>\n?([^]*?)\n?<\/(?:output|stdout|result)>\s*$/,
];
const OPENING_CHARS = 80;
const MAX_PARSED_CHARS = 200_000;
/** The beginning of a wrapped result as JSON text. Texts that do not match are not parsed. */
const JSON_OPENING =
  /^\s*(?:\[?\s*\{\s*"(?:type|text)"|\{\s*"id"\s*:[^,]{1,45},\s*"timestamp"|\{\s*"(?:content|isError|is_error|result|output|text|response|answer|observation|value|data|success|ok|status|error|body|payload|request_id|code|lc|role)")/;
const MAX_DEPTH = 3;

/**
 * MCP results, events of OpenHands, messages of LangChain, lists of parts, envelopes, objects with a single text field such as `result`, each
 * as a value or as JSON text, and `WRAPPINGS`. Cost: reads the first 40 characters or the keys; one `JSON.parse` if a
 * text begins like JSON.
 */
export function openAnswer(result: Json): OpenedAnswer {
  let opened: OpenedAnswer = { result, failed: false };
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const inner = typeof opened.result === 'string' ? unwrapText(opened.result) : unwrapValue(opened.result);
    if (inner === undefined) break;
    opened = { result: inner.result, failed: opened.failed || inner.failed };
  }
  return opened;
}

/** A wrapper begins with one of these characters. */
const WRAPPER_STARTS = '<[{0123456789ORc';

function unwrapText(text: string): OpenedAnswer | undefined {
  if (!WRAPPER_STARTS.includes(text.trimStart().charAt(0))) return undefined;
  for (const [index, form] of WRAPPINGS.entries()) {
    const inner = form.exec(text)?.[1];
    if (inner !== undefined) return { result: inner, failed: index === 0 };
  }
  if (text.length > MAX_PARSED_CHARS || !JSON_OPENING.test(text.slice(0, OPENING_CHARS))) return undefined;
  const value = jsonOf(text);
  return value === undefined ? undefined : unwrapValue(value);
}

function unwrapValue(value: unknown): OpenedAnswer | undefined {
  if (Array.isArray(value)) return joinParts(value);
  if (!isJsonObject(value)) return undefined;
  const picture = pictureText(value);
  if (picture !== undefined) return { result: picture, failed: false };
  const observed = unwrapObservation(value);
  if (observed !== undefined) return observed;
  const { content, kwargs } = value;
  if (value['type'] === 'constructor' && isJsonObject(kwargs)) return unwrapValue(kwargs);
  if (typeof value['tool_call_id'] === 'string') return unwrapMessage(value);
  const names = Object.keys(value);
  if (Array.isArray(content) && names.every((name) => MCP_MEMBER.test(name))) {
    const inner = joinParts(content);
    return inner && { ...inner, failed: value['isError'] === true || value['is_error'] === true };
  }
  const payload = unwrapEnvelope(value, names);
  if (payload !== undefined) return payload;
  const [name = ''] = names;
  const loneValue = names.length === 1 && PAYLOAD.test(name) ? value[name] : undefined;
  return typeof loneValue === 'string' ? { result: loneValue, failed: false } : undefined;
}

/** A message of LangChain, also serialized, or of OpenAI. */
function unwrapMessage({ content, status }: Readonly<Record<string, unknown>>): OpenedAnswer | undefined {
  const text = Array.isArray(content) ? joinParts(content)?.result : content;
  return typeof text === 'string' ? { result: text, failed: status === 'error' } : undefined;
}

function unwrapObservation(value: Readonly<Record<string, unknown>>): OpenedAnswer | undefined {
  const { observation, content, extras, kind } = value;
  if (isJsonObject(observation)) return unwrapObservation(observation);
  const isEvent = typeof observation === 'string' ? isJsonObject(extras) : String(kind).endsWith('Observation');
  const text = Array.isArray(content) ? joinParts(content)?.result : content;
  if (!isEvent || typeof text !== 'string') return undefined;
  const details = isJsonObject(extras) ? extras : value;
  const code =
    details['exit_code'] ?? (isJsonObject(details['metadata']) ? details['metadata']['exit_code'] : undefined);
  const result = typeof code === 'number' ? { output: text, exit_code: code } : text;
  return { result, failed: value['is_error'] === true };
}

function unwrapEnvelope(value: Readonly<Record<string, unknown>>, names: readonly string[]): OpenedAnswer | undefined {
  const payload = names.filter((name) => !ENVELOPE.test(name));
  const [name = ''] = payload;
  if (names.length < 2 || payload.length > 1 || (payload.length === 1 && !PAYLOAD.test(name))) return undefined;
  const { success, ok, status, code, error, errors, message } = value;
  const inner = value[name];
  if ([success, ok, status].some((outcome) => FAILURE_VALUES.has(outcome))) {
    const errorText = isJsonObject(error) ? error['message'] : (error ?? message);
    const isEmpty = (inner ?? null) === null;
    return typeof errorText === 'string' && errorText !== '' && isEmpty
      ? { result: errorText, failed: true }
      : undefined;
  }
  const hasNoError = (error ?? null) === null && (errors ?? null) === null;
  const isSuccess = hasNoError && [success, ok, status, code].every((outcome) => SUCCESS_VALUES.has(outcome));
  // A result is JSON, so each of its fields is JSON.
  return isSuccess && inner !== undefined && inner !== '' ? { result: inner as Json, failed: false } : undefined;
}

const PICTURE_CHARS = 400;

function pictureText(part: Readonly<Record<string, unknown>>): string | undefined {
  const type = String(part['type']);
  if (!type.includes('image') && !type.includes('screenshot')) return undefined;
  const json = canonicalJson(part);
  if (json.length > PICTURE_CHARS) return undefined;
  const digest = /"digest":"([^"]+)"|digest ([\da-f]+)\]/.exec(json);
  return digest === null ? '' : `[picture, digest: ${digest[1] ?? digest[2] ?? ''}]`;
}

function joinParts(parts: readonly unknown[]): OpenedAnswer | undefined {
  const texts: string[] = [];
  for (const part of parts) {
    if (!isJsonObject(part)) return undefined;
    const text = part['type'] === 'text' ? part['text'] : pictureText(part);
    if (typeof text !== 'string') return undefined;
    texts.push(text);
  }
  return texts.length === 0 ? undefined : { result: texts.join('\n'), failed: false };
}

const REMINDERS = ['system-reminder', 'system-warning', 'environment_details'];

export function withoutReminders(text: string): string {
  const trimmed = text.trimEnd();
  const name = REMINDERS.find((tag) => trimmed.endsWith(`</${tag}>`));
  const start = name === undefined ? -1 : trimmed.lastIndexOf(`<${name}>`);
  return start < 0 ? text : withoutReminders(trimmed.slice(0, start).trimEnd());
}
