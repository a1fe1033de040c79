import { basename, dirname } from 'node:path';

import { present } from '../../core/base/json.ts';
import { textOfContent, type StoredUsage } from '../../core/records/agent-message.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import type { ImportItem, ImportSource, LineImport, TextImporter } from '../importer.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { SessionItems, type SessionResult } from '../parts/session-items.ts';
import { UniqueNames } from '../parts/skip-counts.ts';
import { sourceBlocks, sourceTimeMs } from '../parts/source-content.ts';

/** Aider writes it into the folder of the repository. */
export const AIDER_HISTORY = '.aider.chat.history.md';

const HEADER = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$/;

/** `.aider.chat.history.md`, with all sessions of a repository: lines with `####` are the user's, with `>` Aider's, others the model's. */
export const aiderImporter: TextImporter = {
  shape: 'text',
  format: 'aider',
  recognise: (firstLines) => (firstLines.some((line) => HEADER.test(line)) ? 1 : 0),
  open: (source) => new AiderHistory(source),
};

type Speaker = 'user' | 'model' | 'aider';

class AiderHistory implements LineImport {
  readonly #names = new UniqueNames();
  readonly #folder: string;
  #session: AiderSession | undefined;
  #speaker: Speaker | undefined;
  #lines: string[] = [];
  #lastLine = 0;
  /** Set if Aider's own lines end with two spaces, as it writes them. Some editors remove them. */
  #isMarked = false;
  /** Set if the last line ended with two spaces. */
  #isComplete = true;

  constructor(source: ImportSource) {
    const folder = basename(dirname(source.path));
    this.#folder = folder === '.' || folder === '' ? 'aider' : folder;
  }

  *line(value: unknown, lineNumber: number): Generator<ImportItem> {
    const line = typeof value === 'string' ? value : '';
    if (line.trim() === '') return;
    const blankLines = lineNumber - this.#lastLine - 1;
    this.#lastLine = lineNumber;
    const [, start] = HEADER.exec(line) ?? [];
    if (start !== undefined) {
      yield* this.#endSession();
      const id = this.#names.take(`${this.#folder}-${start.replace(' ', 'T')}`);
      this.#session = new AiderSession(id, sourceTimeMs(start));
      return;
    }
    const isMarked = line.endsWith('  ');
    if (isMarked && /^(?:>|####) /.test(line)) this.#isMarked = true;
    // A message of Aider with several lines has the mark before its first and the spaces after its last.
    const isRest = this.#isMarked && this.#speaker === 'aider' && !this.#isComplete;
    this.#isComplete = isMarked;
    const speaker = isRest ? 'aider' : this.#speakerOf(line, isMarked);
    if (speaker !== this.#speaker || (speaker === 'user' && blankLines > 0) || (speaker === 'aider' && !isRest)) {
      yield* this.#endMessage();
      this.#speaker = speaker;
    } else if (blankLines > 0) this.#lines.push('');
    this.#lines.push(isRest || speaker === 'model' ? line : line.replace(/^(?:>|####) ?/, ''));
  }

  *end(): Generator<ImportItem> {
    yield* this.#endSession();
  }

  #speakerOf(line: string, isMarked: boolean): Speaker {
    if (this.#isMarked && !isMarked) {
      const begins = /^> (?:Tokens: |litellm\.)/.test(line) || (line.startsWith('> ') && this.#speaker !== 'model');
      return begins ? 'aider' : 'model';
    }
    return /^#{4}(?: |$)/.test(line) ? 'user' : /^>(?: |$)/.test(line) ? 'aider' : 'model';
  }

  *#endMessage(): Generator<ImportItem> {
    const text = this.#lines.map((line) => line.trimEnd()).join('\n');
    this.#lines = [];
    const session = this.#session;
    if (session === undefined || this.#speaker === undefined) return;
    if (this.#speaker === 'user') yield* session.user(text.trim());
    else if (this.#speaker === 'model') yield* session.model(text.trim());
    else session.aider(text.trimEnd());
  }

  *#endSession(): Generator<ImportItem> {
    yield* this.#endMessage();
    yield* this.#session?.finish() ?? [];
    this.#session = undefined;
    this.#speaker = undefined;
  }
}

/** Commands whose text goes to the model. Others, such as `/add`, are between the user and Aider. */
const PROMPT = /^\/(?:ask|code|architect|context|help|chat-mode)\b\s*/;
/** Prompts that Aider writes: the output of a linter or a test, or its answer to an edit. */
const HOST_PROMPT = /^(?:# Fix any errors below|I ran this command:|# \d+ SEARCH\/REPLACE|I added these files)/;
const TOKENS =
  /^Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?, ([\d.,]+[kM]?) received\.(?:\s+Cost: \$([\d.]+) \w+, \$([\d.]+) session)?/;

const INTERRUPTED: RunEnding = { outcome: 'aborted', reason: 'interrupted' };

interface Edit {
  readonly path: string;
  readonly search?: string;
  readonly replace?: string;
}

/** An answer of the model, and what Aider says that it did with it. */
interface Answer {
  readonly text: string;
  readonly calls: { readonly type: 'call'; readonly call: CallShape & { readonly sourceId: string } }[];
  readonly results: Omit<SessionResult, 'atMs'>[];
  /** Edits without a result. */
  readonly open: Set<string>;
  /** Ids of the edits of a file, and of those with the same block, by `blockKey`. */
  readonly byPath: Map<string, string[]>;
  readonly byBlock: Map<string, string[]>;
}

class AiderSession {
  readonly #items: SessionItems;
  readonly #atMs: number | undefined;
  #hasPrompt = false;
  #modelId: string | undefined;
  #lastText = '';
  /** The prompt that waits for an answer. */
  #lastPrompt: string | undefined;
  #answer: Answer | undefined;
  #usage: StoredUsage | undefined;
  #callCount = 0;
  /** Set while Aider says why it refused edits. */
  #isRefusal = false;
  /** Output of a linter, until Aider asks whether the model should see it. */
  #lint: string[] | undefined;
  #asked: string | undefined;
  #errorMessage: string | undefined;
  #ending: RunEnding | undefined;
  #isStopped = false;

  constructor(id: string, atMs: number | undefined) {
    this.#items = new SessionItems({ id, conversationId: id, format: 'aider' });
    this.#atMs = atMs;
  }

  *user(text: string): Generator<ImportItem> {
    yield* this.#endAnswer();
    const isCommand = /^[/!]/.test(text);
    const prompt = text.replace(PROMPT, '');
    if (prompt === '' || text === '<blank>' || (isCommand && prompt === text)) return;
    // A prompt behind a command is written twice: with the command and without it.
    if (prompt === this.#lastPrompt) return;
    this.#lastPrompt = prompt;
    const isHost = prompt === this.#lastText || HOST_PROMPT.test(prompt);
    const blocks = sourceBlocks(prompt);
    this.#ending = undefined;
    this.#isStopped = false;
    if (isHost) yield* this.#items.system(blocks, undefined);
    else yield* this.#items.user(blocks, this.#hasPrompt ? undefined : this.#atMs, textOfContent(blocks));
    this.#hasPrompt = true;
  }

  *model(text: string): Generator<ImportItem> {
    yield* this.#endAnswer();
    // Before the first prompt stands a command line of several lines.
    if (!this.#hasPrompt || text === '') return;
    this.#ending = undefined;
    this.#answer = { text, calls: [], results: [], open: new Set(), byPath: new Map(), byBlock: new Map() };
    for (const edit of editsIn(text)) this.#start('edit', { ...edit }, edit);
    this.#lastText = text;
  }

  aider(text: string): void {
    const [, model] = /^(?:Main model|Models?): (\S+) with /.exec(text) ?? [];
    if (model !== undefined) this.#modelId = model;
    if (!this.#hasPrompt) return;
    this.#lastPrompt = undefined;
    const [, sent, written, hit, received, cost, total] = TOKENS.exec(text) ?? [];
    if (sent !== undefined) {
      this.#usage = {
        input_tokens: countIn(sent),
        output_tokens: countIn(received),
        ...present({
          cache_write_tokens: written === undefined ? undefined : countIn(written),
          cache_read_tokens: hit === undefined ? undefined : countIn(hit),
          cost_usd: cost === undefined ? undefined : Number(cost),
        }),
      };
      if (total !== undefined) this.#items.cost(Number(total));
    } else if (this.#isRefusal) this.#refused(text);
    else if (text === 'The LLM did not conform to the edit format.' || text === 'Exception while updating files:')
      this.#isRefusal = true;
    else if (text.startsWith('# Fix any errors below')) this.#lint = [text];
    else if (this.#lint !== undefined) this.#linted(text);
    else this.#acted(text);
  }

  *finish(): Generator<ImportItem> {
    yield* this.#endAnswer();
    if (!this.#hasPrompt) return;
    this.#items.outcome(this.#ending, undefined);
    yield* this.#items.finish();
  }

  #acted(text: string): void {
    const [, path] = /^(?:Applied|Did not apply) edit to (.+?)(?: \(--dry-run\))?$/.exec(text) ?? [];
    const [, skipped] = /^Skipping edits to (.+?)(?: that matches gitignore spec\.)?$/.exec(text) ?? [];
    const [, command] = /^Running (.+)$/s.exec(text) ?? [];
    const [, commit] = /^Commit ([\da-f]{7,40}) /.exec(text) ?? [];
    if (path !== undefined) this.#endEdits(path, { result: text, isError: false });
    else if (skipped !== undefined) this.#endEdits(skipped, { result: text, isError: true, outcome: 'refused' });
    else if (command !== undefined && this.#asked !== undefined) this.#start('run_shell_command', { command });
    else if (text.startsWith('Run shell command')) this.#asked = text;
    else if (commit !== undefined) {
      const id = this.#start('git', { command: 'git commit' });
      if (id !== undefined) this.#end(id, { result: text, isError: false });
    } else if (/^litellm\.\w/.test(text)) this.#errorMessage = text;
    else if (text.endsWith('^C KeyboardInterrupt')) this.#leave();
    // Aider writes it before what had arrived of the answer.
    else if (text.endsWith('^C again to exit')) this.#isStopped ||= this.#answer === undefined;
    else if (/^Only \d+ reflections allowed/.test(text)) this.#ending = { outcome: 'limit', reason: 'turn_limit' };
    else if (/^Model \S+ has hit a token limit/.test(text)) this.#ending = { outcome: 'limit', reason: 'context' };
  }

  /** So a person leaves the program too, after an answer or an error. */
  #leave(): void {
    if (this.#usage === undefined && this.#errorMessage === undefined) this.#ending ??= INTERRUPTED;
  }

  #linted(text: string): void {
    if (!text.startsWith('Attempt to fix lint errors?')) this.#lint?.push(text);
    else this.#asked = /\by(?:es)?$/i.test(text) ? 'lint' : undefined;
    if (text.startsWith('Attempt to fix lint errors?') && this.#asked === undefined) this.#lint = undefined;
  }

  #refused(text: string): void {
    if (text === '' || /^https?:\S+$/.test(text)) return;
    this.#isRefusal = false;
    const { byBlock, open } = this.#answer ?? {};
    if (open === undefined) return;
    if (open.size === 0) this.#start('edit', {}, { path: '' });
    const [, ...sections] = `\n${text}`.split(FAILED_BLOCK);
    for (const section of sections) {
      const [path = ''] = section.split('\n', 1);
      const block = section.slice(path.length + 1);
      const search = block.slice(block.indexOf('\n') + 1, Math.max(0, block.indexOf('\n=======') + 1));
      const id = byBlock?.get(blockKey({ path, search: search.replace(/\n$/, '') }))?.pop();
      if (id !== undefined) this.#end(id, { result: section, isError: true });
    }
    const hasOthers =
      sections.length > 0 && /^# The other \d+ SEARCH\/REPLACE blocks? (?:was|were) applied/m.test(text);
    const result = hasOthers ? { result: 'applied', isError: false } : { result: text.slice(0, 2_000), isError: true };
    for (const id of open) this.#end(id, result);
  }

  #endEdits(path: string, result: Pick<SessionResult, 'result' | 'isError' | 'outcome'>): void {
    if (this.#answer === undefined) return;
    const { byPath, open } = this.#answer;
    // Without blocks of the file, the answer has another form: a whole file or a diff.
    const key = keyOf(path);
    const ids = byPath.get(key) ?? [this.#start('edit', { path }, { path }) ?? ''];
    byPath.set(key, []);
    for (const id of ids) if (open.has(id)) this.#end(id, result);
  }

  #start(name: string, args: Readonly<Record<string, string>>, edit?: Edit): string | undefined {
    if (this.#answer === undefined) return undefined;
    this.#callCount += 1;
    const sourceId = `call-${this.#callCount}`;
    this.#answer.calls.push({ type: 'call', call: { sourceId, name, args } });
    if (edit !== undefined) {
      this.#answer.open.add(sourceId);
      addTo(this.#answer.byPath, keyOf(edit.path), sourceId);
      addTo(this.#answer.byBlock, blockKey(edit), sourceId);
    }
    return sourceId;
  }

  #end(sourceId: string, result: Pick<SessionResult, 'result' | 'isError' | 'outcome'>): void {
    this.#answer?.open.delete(sourceId);
    this.#answer?.results.push({ sourceId, ...result });
  }

  *#endAnswer(): Generator<ImportItem> {
    const answer = this.#answer;
    const lint = this.#lint?.join('\n').trim();
    const usage = this.#usage;
    const errorMessage = this.#errorMessage;
    this.#answer = undefined;
    this.#usage = undefined;
    this.#errorMessage = undefined;
    this.#asked = undefined;
    this.#lint = undefined;
    this.#isRefusal = false;
    if (errorMessage !== undefined) this.#ending ??= { outcome: 'error' };
    if (answer !== undefined) {
      this.#lastPrompt = undefined;
      // Aider did not try what it says nothing of, such as blocks of an answer to a question.
      const calls = answer.calls.filter(({ call }) => !answer.open.has(call.sourceId));
      const parts: readonly AnswerPart[] = [...sourceBlocks(answer.text), ...calls];
      yield* this.#items.answer({ parts, modelId: this.#modelId, usage }, undefined);
      for (const result of answer.results) yield* this.#items.result({ ...result, atMs: undefined });
      if (this.#isStopped && usage === undefined) this.#ending ??= INTERRUPTED;
      this.#ending ??= { outcome: 'ended', reason: 'answered' };
      this.#isStopped = false;
    }
    // The model answered nothing, or failed after it was paid.
    else if (usage !== undefined && errorMessage === undefined)
      yield* this.#items.answer({ parts: [], modelId: this.#modelId, usage }, undefined);
    if (lint !== undefined) yield* this.#items.system(sourceBlocks(lint), undefined);
    if (errorMessage !== undefined && this.#hasPrompt) {
      yield* this.#items.failure(errorMessage, undefined, undefined, {
        modelId: this.#modelId,
        usage: answer === undefined ? usage : undefined,
      });
    }
  }
}

const FAILED_BLOCK = '\n## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in ';

function blockKey({ path, search = '' }: Edit): string {
  return `${keyOf(path)}\0${search}`;
}

/** On Windows, the model writes `/` and Aider `\\`. */
function keyOf(path: string): string {
  return path.replaceAll('\\', '/');
}

function addTo(lists: Map<string, string[]>, key: string, id: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [id]);
  else list.push(id);
}

/** `3.2k`, `1,234`, `12M`. */
function countIn(text: string | undefined): number {
  const [, digits = '0', unit = ''] = /^([\d.,]+)([kM]?)$/.exec(text ?? '') ?? [];
  return Math.round(Number(digits.replaceAll(',', '')) * (unit === 'k' ? 1_000 : unit === 'M' ? 1_000_000 : 1));
}

const MAX_PATH_CHARS = 500;
const SEARCH = /^<{5,9} ?(?:SEARCH|ORIGINAL)/;
const DIVIDER = /^={5,9}\s*$/;
const REPLACE = /^>{5,9} ?(?:REPLACE|UPDATED)/;
const FENCE = /^\s*(?:`{3,}|~{3,}|<\/?(?:source|code|pre|codeblock|sourcecode)>)/;

/** The SEARCH/REPLACE blocks of an answer. The path stands above the block, before or after the line of its fence. */
function editsIn(text: string): readonly Edit[] {
  const edits: Edit[] = [];
  let path = '';
  let before: string[] | undefined;
  let after: string[] | undefined;
  const above: string[] = [];
  for (const line of text.split('\n')) {
    if (after !== undefined) {
      if (REPLACE.test(line)) {
        edits.push({ path, search: before?.join('\n') ?? '', replace: after.join('\n') });
        before = undefined;
        after = undefined;
      } else after.push(line);
    } else if (before !== undefined) {
      if (DIVIDER.test(line)) after = [];
      else before.push(line);
    } else if (SEARCH.test(line)) {
      path = pathIn(above) ?? path;
      before = [];
      above.length = 0;
    } else if (line.trim() !== '') {
      above.push(line.length > MAX_PATH_CHARS ? '' : line);
      if (above.length > 3) above.shift();
    }
  }
  return edits;
}

function pathIn(above: readonly string[]): string | undefined {
  const line = above.toReversed().find((one) => !FENCE.test(one));
  const [, inFence] = /^\s*`{3,}\w*\s+(\S*[./]\S*)\s*$/.exec(above.at(-1) ?? '') ?? [];
  const path = (inFence ?? line ?? '')
    .trim()
    .replace(/:$/, '')
    .replace(/^#+\s*/, '')
    .replaceAll(/^[`*]+|[`*]+$/g, '')
    .trim();
  return path === '' || /\s\S*\s/.test(path) ? undefined : path;
}
