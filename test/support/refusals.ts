/** A result that a host writes for a call that it did not run. */
export interface HostText {
  readonly host: string;
  readonly text: string;
}

const GUIDANCE = 'IMPORTANT: You *may* attempt to accomplish this action using other tools.';

/** Results of refused calls, as the hosts and SDKs write them. From their sources and from recorded sessions. */
export const REFUSALS: readonly HostText[] = [
  [
    'claude-code',
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
  ],
  [
    'claude-code',
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nno, keep the file",
  ],
  [
    'claude-code',
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.",
  ],
  ['claude-code', `Permission to use Bash has been denied. ${GUIDANCE}`],
  [
    'claude-code',
    `Permission to use Bash has been denied because Claude Code is running in don't ask mode. ${GUIDANCE}`,
  ],
  ['claude-code', 'Permission to use Bash with command rm -rf build\nls has been denied.'],
  ['claude-code', 'Permission to use Bash has been denied by your rule Bash(rm *).'],
  ['claude-code', 'Permission to use Bash has been auto-denied in dontAsk mode.'],
  ['claude-code', 'Permission to use Bash has been auto-denied (prompts unavailable).'],
  ['claude-code', 'Permission to edit /etc/hosts has been denied.'],
  ['claude-code', 'Permission to read /home/me/.ssh/id_ed25519 has been denied.'],
  [
    'claude-code',
    "Permission for this action was denied by the Claude Code auto mode classifier. Reason: [Git Destructive]. If you have other tasks that don't depend on this action, continue working on those.",
  ],
  ['claude-code', 'Permission for this action has been denied. Reason: it deletes the history of the project.'],
  [
    'claude-code',
    'Permission for this tool use was denied. It requires approval, and this session has no approval surface — nobody can answer a permission prompt here.',
  ],
  ['claude-code', "Claude requested permissions to use Bash, but you haven't granted it yet."],
  ['claude-code', "Claude requested permissions to write to /etc/hosts, but you haven't granted it yet."],
  ['claude-code', 'Claude requested permissions to edit /home/me/.bashrc which is a sensitive file.'],
  ['claude-code', 'PreToolUse:Bash hook error: [node .claude/hooks/guard.mjs]: BLOCKED: production is frozen'],
  ['claude-code', "Hook 'guard' blocked this action: production is frozen"],
  ['claude-code', 'MCP tool github/delete_repo has been denied'],
  ['claude-code', 'This command requires approval'],
  [
    'claude-code',
    'This Bash command contains multiple operations. The following parts require approval: rm -rf build, curl example.test',
  ],
  [
    'claude-code',
    "cat in '/etc/shadow' was blocked. For security, Claude Code may only read files in the allowed working directories for this session: '/work'.",
  ],
  [
    'claude-code',
    '<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>',
  ],
  [
    'claude-code',
    'The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode rather than proceed with implementation.\n\nRejected plan:\nDrop the table.',
  ],
  [
    'claude-code',
    'Exit code 1\ntouch: /etc/x: Operation not permitted\n<sandbox_violations>\ntouch(71) deny(1) file-write-create /etc/x\n</sandbox_violations>',
  ],
  ['codex', 'exec command rejected by user'],
  ['codex', 'patch rejected by user'],
  ['codex', 'user rejected MCP tool call'],
  ['codex', '`rm -rf build` rejected: blocked by policy'],
  ['codex', 'patch rejected: writing outside of the project; rejected by user approval settings'],
  [
    'codex',
    'This action was rejected due to unacceptable risk.\nReason: it uploads private code.\nThe agent must not attempt to achieve the same outcome via workaround.',
  ],
  [
    'codex',
    'exec_command failed for `/bin/bash -lc "rm -rf build"`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
  ],
  [
    'codex',
    'exec_command failed for `/bin/zsh -lc "docker build ."`: SandboxDenied { message: "ERROR: permission denied while trying to connect to the Docker daemon socket" }',
  ],
  [
    'codex',
    'approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never',
  ],
  ['codex', 'Command blocked by PreToolUse hook: production is frozen. Command: rm -rf build'],
  ['gemini', '[Operation Cancelled] Reason: User denied execution.'],
  ['gemini', '[Operation Cancelled] Reason: User did not allow tool call'],
  ['gemini', 'Tool execution denied by policy. Deployments are frozen.'],
  ['gemini', 'Tool execution blocked: production is frozen'],
  ['gemini', 'Tool execution for "Shell" requires user confirmation, which is not supported in non-interactive mode.'],
  ['qwen-code', 'Tool "bash" is denied.'],
  ['qwen-code', 'This "run_shell_command" invocation was denied by permission rules. Matching deny rule: "x".'],
  ['copilot', 'Permission denied and could not request permission from user'],
  ['copilot', 'The user rejected this tool call. User feedback: not in this folder'],
  ['copilot', 'Denied by preToolUse hook: production is frozen'],
  ['opencode', 'The user rejected permission to use this specific tool call.'],
  [
    'opencode',
    'The user rejected permission to use this specific tool call with the following feedback: not in this folder',
  ],
  [
    'opencode',
    'The user has specified a rule which prevents you from using this specific tool call. Relevant rules: [{"permission":"bash","pattern":"rm *","action":"deny"}]',
  ],
  ['opencode', 'The user dismissed this question'],
  ['pi', 'Tool execution was blocked'],
  [
    'goose',
    'The user has declined to run this tool. DO NOT attempt to call this tool again. If there are no alternative methods to proceed, clearly explain the situation and STOP.',
  ],
  ['cline', 'The user denied this operation.'],
  ['openhands', 'User rejected the action'],
  ['openai-agents', 'Tool execution was not approved.'],
  ['langchain', 'User rejected the tool call for `delete_file` with id call_1'],
  ['ai-sdk', 'Tool call execution denied.'],
].map(([host = '', text = '']) => ({ host, text }));

/** Results of calls that a host stopped or skipped. */
export const CANCELLATIONS: readonly HostText[] = [
  ['claude-code', '[Request interrupted by user for tool use]'],
  ['claude-code', '<tool_use_error>Sibling tool call errored</tool_use_error>'],
  ['claude-code', '<tool_use_error>Cancelled: parallel tool call Bash(npm test) errored</tool_use_error>'],
  ['codex', 'aborted by user after 29.7s'],
  ['gemini', '[Operation Cancelled] Reason: User cancelled tool execution.'],
  ['opencode', 'Tool execution aborted'],
  ['pi', 'part of the output\n\nCommand aborted'],
].map(([host = '', text = '']) => ({ host, text }));

/** Failures that remain failures, although their words resemble a refusal. */
export const FAILURES: readonly string[] = [
  'failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: 17 errors, stderr: ',
  'Exit code 1\nsudo: a password is required',
  'Exit code 1\nme is not in the sudoers file.  This incident will be reported.',
  'Exit code 22\ncurl: (22) The requested URL returned error: 403',
  'HTTP 401 Unauthorized: bad credentials',
  '{"status":403,"message":"Forbidden"}',
  "EACCES: permission denied, open '/etc/hosts'",
  'Exit code 1\nmkdir: cannot create directory ‘/etc/x’: Permission denied',
  'Permission denied (publickey).\nfatal: Could not read from remote repository.',
  'git@github.com: Permission to me/project.git denied to you.',
  'error: failed to push some refs: remote rejected main -> main (pre-receive hook declined)',
  'DECLINED: insufficient_funds',
  'access denied for user root@localhost',
  // The program's own rule blocked the call; no person was asked.
  '<tool_use_error>Blocked: sleep 25 followed by: cat log.txt. To wait for a condition, use Monitor with an until-loop.</tool_use_error>',
  '<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>',
  'patch rejected: empty patch',
  'unsupported call: delete_everything',
  "Exit code 1\nThe user doesn't want to proceed with this tool use. The tool use was rejected",
  'grep: notes.md:12: Permission to use Bash has been denied.',
];
