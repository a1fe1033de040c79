import { wordSet } from '../base/word-set.ts';
import type { ToolDeclarations } from '../detect/calls/tool-semantics.ts';

/** Closed: a name from an MCP server, telemetry or an SDK's tool list is its author's text. */
const SHIPPED_TOOLS = wordSet(
  `Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillBash KillShell LS ListMcpResourcesTool MultiEdit
   NotebookEdit NotebookRead PowerShell Read ReadMcpResourceTool SendMessage Skill SlashCommand Task TaskCreate TaskGet TaskList
   TaskOutput TaskStop TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch Write
   apply_patch container.exec exec exec_command list_mcp_resources local_shell read_mcp_resource shell shell_command update_plan
   view_image web_search write_stdin
   activate_skill cli_help codebase_investigator delegate_to_agent get_internal_docs glob google_web_search grep_search list_directory
   read_file read_many_files replace run_shell_command save_memory search_file_content web_fetch write_file write_todos
   ask_user bash create edit fetch_copilot_cli_documentation grep list_powershell powershell read_bash read_powershell report_intent
   rg stop_bash stop_powershell store_memory str_replace task update_todo view write_bash write_powershell
   codesearch batch find list ls lsp multiedit patch question read skill todoread todowrite webfetch websearch write
   codebase_search delete_file edit_file file_search list_dir run_terminal_cmd search_replace todo_write
   browse browser execute_bash execute_ipython_cell execute_python finish fetch str_replace_editor think
   find_file goto insert open scroll_down scroll_up search_dir search_file submit
   code_execution code_interpreter computer computer_use_preview image_generation memory python str_replace_based_edit_tool
   text_editor tool_search web_search_preview
   execute execute_command execute_sql run_command sql terminal write_to_file replace_in_file search_files list_files`,
);
const DECLARED_NAME = /^[\w.:-]{1,40}$/;

/** The name if a common program ships it or the user declared the tool, else a description. */
export function toolWords(name: string, declarations: ToolDeclarations = {}): string {
  if (SHIPPED_TOOLS.has(name)) return name;
  const { kind, loopKey, progressKey } = Object.hasOwn(declarations, name) ? (declarations[name] ?? {}) : {};
  if ((kind ?? loopKey ?? progressKey) !== undefined && DECLARED_NAME.test(name)) return name;
  return /^mcp[^a-z]/i.test(name) ? 'one MCP tool' : 'one tool';
}
