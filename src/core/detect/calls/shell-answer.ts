import { isJsonObject, jsonOf, type Json } from '../../base/json.ts';

/** The output of a program and its exit code. */
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

/**
 * The output formats of Codex, mini-SWE-agent and Gemini CLI, each with its beginning. The output of a running command has no exit
 * code.
 */
const HEADED_FORMATS: readonly (readonly [opening: RegExp, form: RegExp])[] = [
  [
    /^(?:Exit code: \d|Chunk ID: |Wall time: )/,
    /^(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?<code>\d+)\n)?Wall time: [^\n]*\n(?:Process (?:exited with code (?<exit>\d+)|running with session ID \d+)\n)?(?:[^\n]*\n){0,2}?Output:(?:\n|$)(?<text>[^]*)$/,
  ],
  [
    /^<(?:return_?code|exit_?code)>/,
    /^<\w+>(?<code>\d+)<\/\w+>\s*<(?:output|stdout)>\n?(?<text>[^]*?)\n?(?:<\/(?:output|stdout)>\s*)?(?:<stderr>\n?(?<stderr>[^]*?)\n?<\/stderr>\s*)?$/,
  ],
  [
    /^<(?:output|stdout)>/,
    /^<\w+>\n?(?<text>[^]*?)\n?<\/(?:output|stdout)>\s*(?:<stderr>\n?(?<stderr>[^]*?)\n?<\/stderr>\s*)?<(?:return_?code|exit_?code)>(?<code>\d+)<\/\w+>\s*$/,
  ],
  [
    /^(?:<untrusted_context>\n)?(?:Command|Output): /,
    /^(?:<untrusted_context>\n)?[^]*?(?:Stdout|Output): (?<text>[^]*?)(?:\nStderr: (?<stderr>[^]*?))?\n(?:Error: [^\n]*\n)?Exit Code: (?:(?<code>\d+)|\(none\))(?:\n[A-Z][\w ]*: [^\n]*)*\s*(?:<\/untrusted_context>\s*)?$/,
  ],
];
/** Exit codes in the first line, and in the last lines in brackets or as part of a failure message. */
const FIRST_LINE =
  /^(?:(?:The )?(?:[Pp]rocess|[Cc]ommand|[Ss]hell) )?[Ee]xit(?:ed)?(?: with)?(?: exit)? (?:code|status):? (?<code>\d+)\.?(?:\n(?<text>[^]*))?$/;
const LAST_LINES =
  /(?:^|\n)(?:[[<(][^\n]{0,80}\b[Ee]xit(?:ed with)? (?:code|status):? -?\d+\b[^\n]{0,20}[\])>](?:\n\[[^\n]*\])*|(?:(?:The )?(?:[Pp]rocess|[Cc]ommand|[Ss]hell)[^\n]{0,20} )?[Ee]xit(?:ed)?(?: with)?(?: exit)? (?:code|status):? [1-9]\d*\.?|Command '[^\n]{1,200}' returned non-zero exit status \d+\.)\s*$/;
const CODES = /(?:code|status):? (-?\d+)/g;

/**
 * Reads the output of a program with its exit code. Accepts JSON such as `{"output": "…", "metadata": {"exit_code": 1}}`, JSON
 * with `stdout`, `stderr` and `exit_code` (each as an object or as text), and the text formats above. The exit code of a running
 * command is 0. Returns undefined for any other result.
 *
 * Cost: reads both ends of a text; one `JSON.parse` or regular expression if the text has such a format.
 */
export function shellAnswer(result: Json): ShellAnswer | undefined {
  const sections = typeof result === 'string' ? readTextFormat(result) : undefined;
  if (sections !== undefined) return sections;
  const object = typeof result === 'string' ? parseObject(result) : result;
  if (!isJsonObject(object)) return undefined;
  const exitCode = exitCodeOf(object) ?? exitCodeOf(object['metadata']);
  const printed = PRINTED_KEYS.map((name) => object[name]).filter((text) => typeof text === 'string');
  return exitCode === undefined || printed.length === 0 ? undefined : joinOutput(printed, exitCode);
}

function readTextFormat(text: string): ShellAnswer | undefined {
  const format = HEADED_FORMATS.find(([opening]) => opening.test(text));
  if (format !== undefined) {
    const groups = format[1].exec(text)?.groups;
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

/** Returns the output of a program; empty if it is only a placeholder for nothing. */
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
