import type { ReadingRule } from './answer-rules.ts';

/** A rule for a part of a result that a harness or a program changes with each call, and its replacement. */
interface NoteRule extends ReadingRule {
  /** Stands in every text that `form` matches. */
  readonly mention: string;
  readonly by: string;
}

export const NOTES: readonly NoteRule[] = [
  {
    // Claude Code, Codex, Gemini CLI, Copilot CLI, opencode, deepagents: Full output saved to: /…/tool-results/b7mn2clg0.txt
    id: 'note-saved-output',
    mention: '',
    form: /(\b(?:(?:output|result|response)s?\b[^\n]{0,120}?\b(?:saved|written|stored)\b|full output\b|output_file\b)[^\n:]{0,40}?:? ?`?)(?:[A-Za-z]:)?[\w.~@%+-]{0,60}[\\/](?:Users[\\/][^\\/\n]{1,40}(?=[\\/]))?[^\s"'<>|*]*?(?=\.?(?:[\s"'<>|)\]`]|$))/gi,
    by: '$1~',
  },
  {
    // The id of an agent, a shell or a call: agentId: a276f4c, background with ID: b7mn2clg0, "command_id": 12
    id: 'note-handle',
    mention: '',
    form: /(\bbackground[^\n]{0,60}?\bID: ?|\bstarted \(task |\btool call (?=[\w-]+ was saved)|\b[Cc]ommand[_ ]?[Ii][Dd]["']?[:=] ?["']?|\b(?:[Aa]gent|[Tt]ask|[Ss]hell|[Bb]ash|[Cc]all|[Tt]hread|[Ss]ession)[_ -]?(?:id|Id|ID)["']?[:=] ?["']?(?=[\w-]*\d)(?=[\w-]*[a-z]))[\w-]+/g,
    by: '$1~',
  },
  // Elements with counts or ids: <usage>total_tokens: 79540 …</usage>, <task_id>b1</task_id>
  {
    id: 'note-element',
    mention: '</',
    form: /<(usage|[a-z]+[_-]id|output-file)>[^<]{0,300}<\/\1>/g,
    by: '~',
  },
  {
    id: 'note-tokens',
    mention: 'oken',
    form: /\btoken usage: ?[\d,]+ ?(?:\/|of) ?[\d,]+(?:; ?[\d,]+ remaining)?|\b[\d,]+ tokens? (?:remaining|left|used)\b/gi,
    by: '~',
  },
  {
    // Codex, opencode: …6346 tokens truncated…, ...104133 bytes truncated...
    id: 'note-truncated',
    mention: 'e',
    form: /[\d,]+(?= (?:more )?(?:tokens?|bytes?|char(?:acter)?s?|lines?|words?) (?:(?:truncated|omitted|hidden)|(?:was|were) (?:truncated|omitted|removed))\b)/g,
    by: '~',
  },
  // Browsers: [37]<button>Save</button>
  { id: 'note-element-index', mention: ']<', form: /\[\d+\](?=<[a-z/])/gi, by: '[~]' },
  {
    id: 'note-curl-progress',
    mention: '--:--',
    form: /^ *% Total +% Received[^\n]*\n(?: *Dload[^\n]*\n?)?|^(?=[^\n]*(?:--:--:--|\d:\d\d:\d\d))[ \d.kMGTP:-]{40,}(?:\n|$)/gm,
    by: '',
  },
  {
    // BuildKit: #7 0.512 added 3 packages
    id: 'note-build-step',
    mention: '#',
    form: /^#\d+ (?:\d+\.\d+ )?(?:(?:sha256:\w+ |extracting |transferring \w+: )?[\d.]+ ?[kMG]?B(?: \/ [\d.]+ ?[kMG]?B)?[^\n]*)?/gm,
    by: '#~ ',
  },
];

/** Matches every text that a rule changes. */
const MENTIONS =
  /aved|ritten|tored|utput|I[dD]|id["'=:]|\(task |tool call |<\/|oken|truncated|omitted|hidden|removed|\]<|--:--|#\d/;
const END_CHARS = 2_048;
/** A line that a program has overwritten, in a terminal. */
const OVERWRITTEN = /[^\r\n]*\r(?=[^\r\n])/g;

/** Removes parts of a result that a harness or a program changes with each call. Cost: a few linear expressions over both ends. */
export function withoutNotes(text: string): string {
  const shown = text.includes('\r') ? text.replaceAll(OVERWRITTEN, '') : text;
  if (shown.length <= 2 * END_CHARS) return cleanEnd(shown);
  const [head, tail] = [shown.slice(0, END_CHARS), shown.slice(-END_CHARS)];
  const middle = shown.slice(END_CHARS, -END_CHARS);
  const cleaned = [
    cleanEnd(head),
    middle.includes('truncated') ? applyRule(middle, TRUNCATED) : middle,
    cleanEnd(tail),
  ];
  return cleaned[0] === head && cleaned[1] === middle && cleaned[2] === tail ? shown : cleaned.join('');
}

export function notesOf(text: string): readonly string[] {
  return NOTES.filter((rule) => applyRule(text, rule) !== text).map(({ id }) => id);
}

function cleanEnd(text: string): string {
  if (!MENTIONS.test(text)) return text;
  const cleaned = NOTES.reduce(applyRule, text);
  return cleaned === text ? text : withoutHandles(cleaned, text);
}

/** A host names the agent or the command again, in a sentence. */
function withoutHandles(cleaned: string, text: string): string {
  const handles = Array.from(text.matchAll(HANDLE.form), ([note, before = '']) => note.slice(before.length));
  return handles.reduce(
    (rest, handle) => (handle.length < MIN_HANDLE_CHARS ? rest : rest.replaceAll(handle, '~')),
    cleaned,
  );
}

function applyRule(text: string, { mention, form, by }: NoteRule): string {
  return text.includes(mention) ? text.replace(form, by) : text;
}

// The list has these rules.
const TRUNCATED = NOTES.find(({ id }) => id === 'note-truncated') as NoteRule;
const HANDLE = NOTES.find(({ id }) => id === 'note-handle') as NoteRule;
/** A shorter one may be a number or a word. */
const MIN_HANDLE_CHARS = 7;
