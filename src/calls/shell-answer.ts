import { isJsonObject, jsonOf, type Json } from '../base/json.ts';

/** What a program printed, and how it ended. */
export interface ShellAnswer {
  readonly text: string;
  readonly exitCode: number;
}

const EXIT_KEYS = ['exit_code', 'exitCode', 'returncode', 'return_code', 'exit_status'] as const;
const PRINTED_KEYS = ['output', 'stdout', 'stderr'] as const;
/** A text that may hold one; most answers hold none, and are not parsed. */
const MAY_HOLD = /"(?:exit_?(?:code|status)|return_?code)"\s*:/i;
const LOOKED_AT_CHARS = 300;

/**
 * What a harness hands over in a form of its own: JSON such as `{"output": "…", "metadata": {"exit_code": 1}}`, or `stdout`,
 * `stderr` and `exit_code` side by side, as an object or as its text; lines such as `Exit code: 1`, `Stdout: …` and
 * `Error: (none)`; `Process exited with code 1` before `Output:`; `<returncode>1</returncode>` before an `<output>`; `Exit code 1` on
 * the first line, `[The command completed with exit code 1.]` or `<shellId: 0 completed with exit code 1>` behind the rest. A
 * command that is still running has the exit code 0. Undefined for any other answer.
 *
 * Cost: a look at the beginning of a text, and at both ends of one that opens with a brace; one `JSON.parse` or a regular
 * expression where it has such a form.
 */
export function shellAnswer(result: Json): ShellAnswer | undefined {
  const object = typeof result === 'string' ? (sectioned(result) ?? parsed(result)) : result;
  if (!isJsonObject(object)) return undefined;
  const exitCode = exitCodeOf(object) ?? exitCodeOf(object['metadata']);
  const printed = PRINTED_KEYS.flatMap((name) => {
    const text = object[name];
    return typeof text === 'string' ? [text] : [];
  });
  if (exitCode === undefined || printed.length === 0) return undefined;
  return { text: printed.filter((text) => text !== '').join('\n'), exitCode };
}

const NOTHING_PRINTED = /^\((?:empty|none)\)$/;
const CODEX =
  /^(?:Chunk ID: \w+\n)?(?:Exit code: (\d+)\n)?Wall time: [^\n]*\n(?:Process exited with code (\d+)\n)?(?:[^\n]*\n){0,2}Output:\n/;
const CODEX_OPENINGS = ['Exit code: ', 'Chunk ID: ', 'Wall time: '];
const COPILOT_END = /\n?<(?:shellId: \S{1,80} completed|exited) with exit code (\d+)>\s*$/;
/** What Gemini CLI puts around what a program printed. */
const GEMINI_WRAP = /^<untrusted_context>\n([^]*)\n<\/untrusted_context>\s*$/;
/** A later form; a process that goes on running has no code yet. */
const CODEX_CHUNK =
  /^Chunk ID: [^\n]*\nWall time: [^\n]*\nProcess (?:exited with code (\d+)|running with session ID \d+)\n(?:[^\n]*\n)?Output:(?:\n|$)/;
const GEMINI_EXIT = /\n(?:Error: [^\n]*\n)?Exit Code: (\d+|\(none\))(?:\n[A-Z][\w ]*: [^\n]*)*\s*$/;
const GEMINI_PRINTED = /\n(?:Stdout|Output): ([^]*?)(?:\nStderr: ([^]*))?$/;
/** `-1` stands for a command that is still running. */
const OPENHANDS_END =
  /\n?\[(?:The command completed|Command finished) with exit code -?\d+\b[^\]\n]*\](?:\n\[[^\n]*\])*\s*$/;
const CODE = 'exit code ';
const OPENHANDS_END_CHARS = 600;
const CLAUDE_CODE = /^Exit code (\d+)(?:\n|$)/;
const RETURN_CODE = /^<returncode>(\d+)<\/returncode>\s*<output>([^]*?)(?:<\/output>\s*)?$/;

/** The same as an object, where it is told in sections of text as Codex, Claude Code, Gemini CLI, OpenHands and mini-SWE-agent write them. */
function sectioned(text: string): Json | undefined {
  if (CODEX_OPENINGS.some((opening) => text.startsWith(opening))) {
    const head = CODEX.exec(text);
    return head === null
      ? undefined
      : { output: text.slice(head[0].length), exit_code: Number(head[1] ?? head[2] ?? 0) };
  }
  if (text.startsWith('Chunk ID: ')) {
    const head = CODEX_CHUNK.exec(text);
    return head === null ? undefined : { output: text.slice(head[0].length), exit_code: Number(head[1] ?? 0) };
  }
  if (text.startsWith('<returncode>')) {
    const found = RETURN_CODE.exec(text);
    return found === null ? undefined : { output: (found[2] ?? '').trim(), exit_code: Number(found[1]) };
  }
  if (text.startsWith('Exit code ')) {
    const head = CLAUDE_CODE.exec(text);
    return head === null ? undefined : { output: text.slice(head[0].length), exit_code: Number(head[1]) };
  }
  if (text.endsWith(']') || text.endsWith(']\n')) return withoutEnd(text);
  if (text.endsWith('>') && COPILOT_END.test(text.slice(-OPENHANDS_END_CHARS))) {
    const end = COPILOT_END.exec(text);
    return end === null ? undefined : { output: text.slice(0, end.index), exit_code: Number(end[1]) };
  }
  if (!/^(?:Command: |Output: |<untrusted_context>\n(?:Command|Output): )/.test(text)) return undefined;
  const bare = GEMINI_WRAP.exec(text)?.[1] ?? text;
  const end = GEMINI_EXIT.exec(bare);
  const printed = end === null ? null : GEMINI_PRINTED.exec(`\n${bare.slice(0, end.index)}`);
  if (end === null || printed === null) return undefined;
  const [output, stderr] = printed
    .slice(1)
    .map((part: string | undefined) => (part ?? '').replace(NOTHING_PRINTED, ''));
  // `(none)`: a signal ended it, or nobody knows.
  return { output: output ?? '', stderr: stderr ?? '', exit_code: end[1] === '(none)' ? 0 : Number(end[1]) };
}

function withoutEnd(text: string): Json | undefined {
  const tail = text.slice(-OPENHANDS_END_CHARS);
  const end = OPENHANDS_END.exec(tail);
  if (end === null) return undefined;
  const [footer] = end;
  const code = Number.parseInt(footer.slice(footer.lastIndexOf(CODE) + CODE.length), 10);
  return { output: text.slice(0, text.length - tail.length + end.index), exit_code: Math.max(0, code) };
}

function exitCodeOf(value: unknown): number | undefined {
  if (!isJsonObject(value)) return undefined;
  const found = EXIT_KEYS.map((name) => value[name]).find((code) => typeof code === 'number');
  return typeof found === 'number' ? found : undefined;
}

function parsed(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  if (!MAY_HOLD.test(text.slice(0, LOOKED_AT_CHARS)) && !MAY_HOLD.test(text.slice(-LOOKED_AT_CHARS))) return undefined;
  // A text that only looks like JSON is what was printed.
  return jsonOf(text);
}
