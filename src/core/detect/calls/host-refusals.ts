import type { Json } from '../../base/json.ts';
import type { CallOutcome, TrajectoryPayload } from '../../records/trajectory-record.ts';
import { openAnswer } from './shell-answer.ts';
import { resultText } from './answer-reading.ts';
import type { QuickRule } from './answer-rules.ts';

/** A rule for a part of a result that a harness or a program writes anew for each call, and its replacement. */
interface NoteRule extends QuickRule {
  readonly mentions: RegExp;
  readonly by: string;
}

const PATH = String.raw`(?:[A-Za-z]:)?[\w.~@%+-]{0,60}[\\/][^\s"'<>|*]*?`;

export const NOTES: readonly NoteRule[] = [
  {
    // Claude Code, Codex, Gemini CLI, Copilot CLI, opencode, deepagents: Full output saved to: /…/tool-results/b7mn2clg0.txt
    id: 'note-saved-output',
    mentions: /aved|ritten|tored|utput/,
    form: new RegExp(
      String.raw`(\b(?:(?:output|result|response)s?\b[^\n]{0,120}?\b(?:saved|written|stored)\b|full output\b|output_file\b)[^\n:]{0,40}?:? ?\x60?)${PATH}(?=\.?(?:[\s"'<>|)\]\x60]|$))`,
      'gi',
    ),
    by: '$1~',
  },
  {
    // The id of an agent, a shell or a call: agentId: a276f4c, background with ID: b7mn2clg0, "command_id": 12
    id: 'note-handle',
    mentions: /I[dD]|id["'=:]|\(task |tool call /,
    form: /(\bbackground[^\n]{0,60}?\bID: ?|\bstarted \(task |\btool call (?=[\w-]+ was saved)|\b[Cc]ommand[_ ]?[Ii][Dd]["']?[:=] ?["']?|\b(?:[Aa]gent|[Tt]ask|[Ss]hell|[Bb]ash|[Cc]all|[Tt]hread|[Ss]ession)[_ -]?(?:id|Id|ID)["']?[:=] ?["']?(?=[\w-]*\d)(?=[\w-]*[a-z]))[\w-]+/g,
    by: '$1~',
  },
  // Elements with counts or ids: <usage>total_tokens: 79540 …</usage>, <task_id>b1</task_id>
  {
    id: 'note-element',
    mentions: /<\//,
    form: /<(usage|[a-z]+[_-]id|output-file)>[^<]{0,300}<\/\1>/g,
    by: '~',
  },
  {
    id: 'note-tokens',
    mentions: /oken/,
    form: /\btoken usage: ?[\d,]+ ?(?:\/|of) ?[\d,]+(?:; ?[\d,]+ remaining)?|\b[\d,]+ tokens? (?:remaining|left|used)\b/gi,
    by: '~',
  },
  {
    // Codex, opencode: …6346 tokens truncated…, ...104133 bytes truncated...
    id: 'note-truncated',
    mentions: /truncated|omitted/,
    form: /[\d,]+(?= (?:more )?(?:tokens?|bytes?|char(?:acter)?s?|lines?|words?) (?:(?:was|were) )?(?:truncated|omitted)\b)/g,
    by: '~',
  },
  // Browsers: [37]<button>Save</button>
  { id: 'note-element-index', mentions: /\]</, form: /\[\d+\](?=<[a-z/])/gi, by: '[~]' },
  {
    id: 'note-curl-progress',
    mentions: /--:--/,
    form: /^ *% Total +% Received[^\n]*\n(?: *Dload[^\n]*\n?)?|^(?=[^\n]*(?:--:--:--|\d:\d\d:\d\d))[ \d.kMGTP:-]{40,}(?:\n|$)/gm,
    by: '',
  },
  {
    // BuildKit: #7 0.512 added 3 packages
    id: 'note-build-step',
    mentions: /#\d/,
    form: /^#\d+ (?:\d+\.\d+ )?(?:(?:sha256:\w+ |extracting |transferring \w+: )?[\d.]+ ?[kMG]?B(?: \/ [\d.]+ ?[kMG]?B)?[^\n]*)?/gm,
    by: '#~ ',
  },
];

/** Matches every text that a rule reads. One expression takes a third of the time of a search for each word. */
const MENTIONS = new RegExp(NOTES.map(({ mentions }) => mentions.source).join('|'));
const END_CHARS = 2_048;
/** A line that a program has overwritten, in a terminal. */
const OVERWRITTEN = /[^\r\n]*\r(?=[^\r\n])/g;

/** Removes from a result what a harness or a program writes anew for each call. Cost: a few linear expressions over both ends. */
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
  return MENTIONS.test(text) ? NOTES.reduce(applyRule, text) : text;
}

function applyRule(text: string, { mentions, form, by }: NoteRule): string {
  return mentions.test(text) ? text.replace(form, by) : text;
}

// The list has this rule.
const TRUNCATED = NOTES.find(({ id }) => id === 'note-truncated') as NoteRule;

interface HostForm {
  readonly outcome: Extract<CallOutcome, 'refused' | 'cancelled'>;
  readonly form: RegExp;
}

/**
 * From the hosts' sources and recorded sessions. A host writes such a text in place of a result, with its error flag.
 * `docs/recording.md` lists the hosts.
 */
const FORMS: Readonly<Record<string, readonly HostForm[]>> = {
  'claude-code': [
    refused(/^The user doesn't want to (?:proceed with this tool use|take this action right now)\./),
    refused(/^Permission to (?:use|read|edit|write to) [^]{1,4000}? (?:has been (?:auto-)?denied|denied by plugin)\b/),
    refused(/^Permission for this (?:action|tool use|command) (?:has been|was) denied\b/),
    refused(/^Claude requested permissions to (?:use|read from|write to|edit|glob) /),
    refused(/^(?:PreToolUse|PermissionRequest):[^\n]{1,200} hook error: /),
    refused(/^Hook (?:'[^'\n]{1,200}' blocked this action: |PreToolUse:[^\n]{1,200} denied this tool)/),
    refused(/^(?:Permission denied by (?:PermissionRequest )?hook|Execution stopped by (?:PreToolUse )?hook)\b/),
    refused(/^PreToolUse hook did not respond before its timeout\b/),
    refused(/^MCP tool [^\n]{1,200} has been denied$/),
    refused(/^This command (?:uses shell operators that require|requires) approval\b/),
    refused(/^This Bash command contains multiple operations\. The following parts? requires? approval: /),
    refused(/^[^\n]{1,2000} was blocked\. For security, Claude Code may only /),
    refused(/^File is in a directory that is denied by your permission settings\.$/),
    refused(/^The agent proposed a plan that was rejected by the user\./),
    // The sandbox of the shell adds this element to the output of a command that it stopped.
    refused(/<sandbox_violations>[^]*<\/sandbox_violations>\s*$/),
    cancelled(/^\[Request interrupted by user(?: for tool use)?\]$/),
    cancelled(/^Sibling tool call errored$/),
    cancelled(/^Cancelled: parallel tool call\b/),
    cancelled(/^Streaming fallback - tool execution discarded$/),
  ],
  codex: [
    refused(/^(?:exec command|patch) rejected by user$/),
    refused(/^user (?:rejected|cancelled) MCP tool call$/),
    refused(/^`[^]{1,8000}` rejected: [^\n]+$/),
    refused(/^(?:rejected by user|rejected: blocked by policy)$/),
    refused(/^patch rejected: writing outside of the project\b/),
    refused(/^This action was rejected due to unacceptable risk\./),
    refused(
      /^exec_command failed[^]{1,8000}Rejected\(\\*"(?:(?:exec command )?rejected by user|This action was rejected)/,
    ),
    refused(/^approval policy is \w+; reject command\b/),
    refused(/^(?:Command|Tool call) blocked by PreToolUse hook: /),
    refused(/^(?:failed in sandbox|sandbox denied exec error)\b/),
    cancelled(/^(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user)?(?: after [\d.]+s)?$/),
  ],
  gemini: [
    refused(/^\[Operation Cancelled\] Reason: (?:User (?:denied|did not allow|declined)|Denied)\b/),
    refused(/^Tool execution denied by policy\./),
    refused(/^(?:Tool execution blocked|Agent execution stopped by hook): /),
    refused(/^Tool execution for "[^"\n]{1,200}" requires user confirmation, which is not supported\b/),
    refused(/^User rejected this operation\./),
    refused(/^User cancelled sandbox expansion\./),
    cancelled(/^\[Operation Cancelled\] /),
    cancelled(/^Operation cancelled by user\.?$/),
  ],
  'qwen-code': [
    refused(/^Tool "[^"\n]{1,200}" is denied(?:\.$|:)/),
    refused(/^This "[^"\n]{1,200}" invocation was denied by permission rules\./),
  ],
  copilot: [
    refused(/^Permission denied and could not request permission from user\b/),
    refused(/^The user rejected this tool call\./),
    refused(/^Denied by preToolUse hook\b/i),
  ],
  opencode: [
    refused(/^(?:Error: )?The user rejected permission to use this specific tool call\b/),
    refused(/^(?:Error: )?The user has specified a rule which prevents you from using this specific tool call\./),
    refused(/^(?:Error: )?The user dismissed this question$/),
    cancelled(/^Tool execution aborted$/),
  ],
  pi: [refused(/^Tool execution was blocked$/), cancelled(/^(?:[^]*\n\n)?(?:Operation|Command) aborted$/)],
  goose: [refused(/^The user has declined to run this tool\./)],
  cline: [refused(/^The user denied this operation\b/)],
  openhands: [refused(/^(?:Action rejected: )?User rejected the action$/)],
  'openai-agents': [refused(/^Tool execution was not approved\.$/)],
  langchain: [refused(/^User rejected the tool call for [`"][^`"\n]{1,200}[`"]/)],
  'ai-sdk': [refused(/^Tool call execution denied\.$/)],
};

const ALL_FORMS = Object.values(FORMS).flat();

/**
 * The text of a host for a refused or cancelled call.
 *
 * @param result  of a call with an error flag; without flags, only for a host that flags no refusals, by name
 * @param host  default: the texts of all hosts
 */
export function hostOutcome(result: Json, host?: keyof typeof FORMS): HostForm['outcome'] | undefined {
  const opened = openAnswer(result).result;
  const text = typeof opened === 'string' ? opened : resultText(opened);
  const forms = host === undefined ? ALL_FORMS : (FORMS[host] ?? []);
  return forms.find(({ form }) => form.test(text))?.outcome;
}

/** Something between the model and the tool refused the call, whatever its words. Undefined if it was invalid. */
export function unrunOutcome(result: Json): HostForm['outcome'] | undefined {
  if (typeof result === 'string' && result.startsWith('<tool_use_error>')) return hostOutcome(result);
  return hostOutcome(result) ?? 'refused';
}

/** That of the source, else that of the host's text. A refused or cancelled call has the error flag. */
export function withHostOutcome<Payload extends TrajectoryPayload>(payload: Payload): Payload {
  if (payload.kind !== 'tool_ended') return payload;
  const { outcome: stated, ...rest } = payload;
  const outcome =
    stated ?? (payload.is_error && payload.error_inferred !== true ? hostOutcome(payload.result) : undefined);
  if (outcome === 'refused' || outcome === 'cancelled') return { ...payload, outcome, is_error: true };
  if (stated === undefined) return payload;
  // The error flag says the same.
  return { ...rest, is_error: outcome === 'failed' } as Payload;
}

function refused(form: RegExp): HostForm {
  return { outcome: 'refused', form };
}

function cancelled(form: RegExp): HostForm {
  return { outcome: 'cancelled', form };
}
