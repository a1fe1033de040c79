import { isJsonObject, type Json } from '../base/json.ts';
import { commandLineOf } from './check-command.ts';
import { isListedProgram } from '../detect/calls/shell-program.ts';
import { resultText } from '../detect/calls/answer-reading.ts';
import { shellAnswer } from '../detect/calls/shell-answer.ts';
import type { CallKey } from './call-keys.ts';

/** Instruction files of agent programs, relative to the project; `*` is the folder of a skill. */
export const INSTRUCTION_FILES: readonly string[] = [
  'CLAUDE.md',
  'CLAUDE.local.md',
  '.claude/CLAUDE.md',
  'AGENTS.md',
  'GEMINI.md',
  '.github/copilot-instructions.md',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/skills/*/SKILL.md',
  '.agents/skills/*/SKILL.md',
];
const IS_INSTRUCTION =
  /(?:^|\/)(?:CLAUDE(?:\.local)?\.md|AGENTS\.md|GEMINI\.md|copilot-instructions\.md|\.claude\/settings(?:\.local)?\.json|skills\/[\w.-]+\/SKILL\.md)$/;
const MAX_FILES = 10;
const MAX_LINES = 2_000;
const LINE_CHARS = 300;
const IS_ABSENT = /not exist|no such|not found|ENOENT|EISDIR|directory/i;
/** A shorter name of a file stands for many files. */
const MIN_FILE_CHARS = 7;

export interface InstructionFile {
  readonly path: string;
  readonly lines: readonly (readonly [number: number, text: string])[];
}

export interface InstructionLine {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export function instructionFile(path: string, text: string): InstructionFile {
  return { path, lines: text.split('\n', MAX_LINES).flatMap((line, index) => lineAt(index + 1, line)) };
}

function lineAt(number: number, line: string): readonly (readonly [number, string])[] {
  const text = line.trim().slice(0, LINE_CHARS);
  return /[a-z]{2}/i.test(text) ? [[number, text]] : [];
}

/** Joins what is known of each file, of which a part may be shown at a time: the last text of each line. */
export function mergedFiles(files: readonly InstructionFile[]): readonly InstructionFile[] {
  const byPath = new Map<string, Map<number, string>>();
  for (const { lines, path } of files) {
    const known = byPath.get(path) ?? new Map<number, string>();
    for (const [number, text] of lines) known.set(number, text);
    byPath.set(path, known);
  }
  return [...byPath].map(([path, lines]) => ({ path, lines: [...lines].toSorted(([a], [b]) => a - b) }));
}

/** Collects the instruction files that a session shows: read by the agent, or given to it in a message. Memory: 10 files of 2,000 lines. */
export class InstructionsFold {
  readonly #files = new Map<string, InstructionFile>();

  readCall(args: Json, result: Json): void {
    const path = readPath(args);
    if (path === undefined) return;
    const lines = (shellAnswer(result)?.text ?? resultText(result)).split('\n', MAX_LINES);
    const isNumbered = /^\s*\d+[→\t]/.test(lines[0] ?? '');
    // Of a part without numbers it is not known which lines they are.
    if (!isNumbered && isJsonObject(args) && Number(args['offset'] ?? 1) > 1) return;
    this.#keep({
      path,
      lines: lines.flatMap((line, index) => {
        const [, number = String(index + 1), text = line] =
          (isNumbered ? /^\s*(\d+)[→\t](.*)$/.exec(line) : null) ?? [];
        return lineAt(Number(number), text);
      }),
    });
  }

  readMessage(text: string): void {
    for (const [, claudePath, codexPath, body = ''] of text.matchAll(GIVEN)) {
      const path = claudePath ?? codexPath;
      if (path !== undefined) this.#keep(instructionFile(path, body));
    }
  }

  get files(): readonly InstructionFile[] {
    return [...this.#files.values()];
  }

  #keep(file: InstructionFile): void {
    const known = this.#files.get(file.path);
    if (file.lines.length === 0 || (known === undefined && this.#files.size >= MAX_FILES)) return;
    const [merged = file] = mergedFiles(known === undefined ? [file] : [known, file]);
    this.#files.set(file.path, merged);
  }
}

/** Claude Code and Codex give the agent instruction files in this form. */
const GIVEN =
  /(?:Contents of (\S+(?:CLAUDE|AGENTS|GEMINI)\.md)[^\n]*:|# (AGENTS\.md) instructions for [^\n]*\n+<INSTRUCTIONS>)\n+([\s\S]{1,60000}?)(?=<\/INSTRUCTIONS>|\nContents of |<\/system-reminder>|$)/g;

/** Arguments of calls that change a file, or that search it and show the lines found. */
const NOT_READ = ['old_string', 'content', 'pattern'];

/** Returns false only for a text without an instruction file. */
export function givesInstructions(text: string): boolean {
  return text.includes('Contents of ') || text.includes('# AGENTS.md instructions for ');
}

export function readPath(args: Json): string | undefined {
  const line = commandLineOf(args);
  const shown = line === undefined ? undefined : /^(?:cat|sed -n '?1,\d+p'?) (\S+)$/.exec(line.trim())?.[1];
  const values = isJsonObject(args) ? [args['file_path'], args['path'], args['filePath'], shown] : [shown];
  const isWhole = !isJsonObject(args) || NOT_READ.every((name) => args[name] === undefined);
  return values.find((value): value is string => isWhole && typeof value === 'string' && IS_INSTRUCTION.test(value));
}

export interface NamedFailure {
  readonly key: CallKey;
  readonly shown: string;
  readonly tool: string;
  readonly cause: string;
}

/** Returns the first line of the files that names what fails: its command, else its path, else a program that is not a common one. */
export function instructionLineOf(
  failure: NamedFailure,
  files: readonly InstructionFile[],
): InstructionLine | undefined {
  for (const pattern of patternsOf(failure)) {
    for (const { lines, path } of files) {
      const found = lines.find(([, text]) => pattern.test(text));
      if (found !== undefined) return { path, line: found[0], text: found[1] };
    }
  }
  return undefined;
}

function patternsOf({ cause, key, shown, tool }: NamedFailure): readonly RegExp[] {
  const isShell = shown.split(' ', 1)[0] !== tool;
  const words = (key.kind === 'name' ? key.text : shown).split(' ').filter((word) => !/^[-"'$(#<>|&]|=|…/.test(word));
  const [program = ''] = words;
  const path = [...key.text.split(' '), ...words].find((word) => /[\w-]\/[\w.-]+$|^[\w-]+\.[a-z]{2,4}$/.test(word));
  const flag = key.kind === 'name' ? / (--?[a-z][\w-]+)$/.exec(key.text)?.[1] : undefined;
  const patterns: RegExp[] = [];
  // A line that tells to pass it, before one that only shows it.
  if (flag !== undefined) {
    const told = new RegExp(`\\b(?:always|must|pass|prefer|use)\\b.*${wordOf(flag)}`, 'i');
    return [told, new RegExp(`${wordOf(program)}.*${wordOf(flag)}`)];
  }
  // A line that names a file does not cause that it is too large.
  const steps = IS_ABSENT.test(cause) ? (path?.split('/') ?? []) : [];
  for (const count of [4, 3, 2])
    if (steps.length >= count) patterns.push(new RegExp(wordOf(steps.slice(-count).join('/'), '\\w-')));
  const file = steps.at(-1) ?? '';
  // The name alone may be that of a file in another folder.
  if (steps.length === 1 && file.length >= MIN_FILE_CHARS) patterns.push(new RegExp(wordOf(file, '\\w-')));
  if (isShell) {
    for (const count of [4, 3, 2])
      if (words.length >= count) patterns.push(new RegExp(wordOf(words.slice(0, count).join(' '))));
  }
  // The name of a skill is often a usual word, such as commit.
  if (!isShell && key.kind === 'name' && key.text !== tool) {
    const escaped = wordOf(key.text, '\\w-');
    return [...patterns, new RegExp(`(?<!\\w)[/\`]${escaped}|${escaped} skill|skill ${escaped}`, 'i')];
  }
  const name = isShell ? program : key.kind === 'name' ? key.text : '';
  if (name.length > 2 && /^[\w:.-]+$/.test(name) && !isCommon(name, tool)) patterns.push(new RegExp(wordOf(name)));
  return patterns;
}

function isCommon(name: string, tool: string): boolean {
  return (
    name === tool ||
    isListedProgram(name) ||
    /^(?:go|make|task|just|test|node|timeout|source|sudo|mise|entire)$/.test(name)
  );
}

/** @param before  the characters that make it a part of another word; a path may have more folders before it */
function wordOf(text: string, before = '\\w/-'): string {
  return `(?<![${before}])${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-]|/[\\w.])`;
}
