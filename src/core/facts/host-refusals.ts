import type { Json } from '../base/json.ts';
import { resultText } from '../detect/calls/answer-reading.ts';
import { openAnswer } from '../detect/calls/shell-answer.ts';
import type { CallOutcome, TrajectoryPayload } from '../records/trajectory-record.ts';

interface HostForm {
  readonly outcome: Extract<CallOutcome, 'refused' | 'cancelled'>;
  readonly form: RegExp;
}

/** What Claude Code writes for a call that a person refused, and for one that was interrupted. */
export const REJECTED: RegExp = /^The user doesn't want to (?:proceed with this tool use|take this action right now)\./;

/** Words of a refusal by a person, and of one by a rule: a hook, a policy, settings, a sandbox. */
const BY_PERSON =
  /\buser (?:doesn't want|denied|did not allow|declined|rejected|cancelled)\b|\b(?:rejected|denied) by (?:the )?user\b/i;
const BY_RULE =
  /\b(?:hook|policy|permission settings|auto-denied|don't ask mode|unacceptable risk|sandbox(?:_violations)?|for security)\b/i;

/** Returns who refused a call, if its result says so. */
export function refuserOf(result: Json): 'you' | 'a rule' | undefined {
  const text = resultText(result);
  if (BY_PERSON.test(text)) return 'you';
  return BY_RULE.test(text) ? 'a rule' : undefined;
}

/** From the hosts' sources and recorded sessions: texts in place of a result, with its error flag (`docs/recording.md`). */
const FORMS: Readonly<Record<string, readonly HostForm[]>> = {
  'claude-code': [
    refused(REJECTED),
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
    cancelled(
      /^(?:Exit code 137\n)?\[Request interrupted by user(?: for tool use)?\](?:\n|$)|^(?:Request was aborted\.|Interrupted by user)$/,
    ),
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
      /^exec_command failed[^]{1,8000}Rejected\(\\*"(?:(?:exec command )?rejected by user|This action was rejected|[^]{1,8000} rejected: blocked by policy)/,
    ),
    refused(/^exec_command failed[^]{1,8000}Sandbox(?:Denied|\(Denied)\b[^]*(?:not permitted|[Pp]ermission denied)/),
    refused(/^approval policy is \w+; reject command\b/),
    refused(/^(?:Command|Tool call) blocked by PreToolUse hook: /),
    // It says so of every exit code and of a timeout; a refusal of the system is in the output.
    refused(
      /^(?:failed in sandbox|sandbox denied exec error)\b(?=[^]*(?:[Oo]peration not permitted|[Pp]ermission denied|[Rr]ead-only file system))/,
    ),
    cancelled(/^(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user)?(?: after [\d.]+s)?$/),
  ],
  gemini: [
    refused(/^\[Operation Cancelled\] Reason: (?:User (?:denied|did not allow|declined)|Denied)\b/),
    refused(/^Tool execution (?:for "[^"\n]{1,200}" )?denied by policy\./),
    cancelled(/^The user aborted a request\.$/),
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
