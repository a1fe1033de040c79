import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Folder of the files of a session's subagents: `X/subagents` beside `X.jsonl`. */
export function subagentFolder(sessionFile: string): string {
  return join(dirname(sessionFile), basename(sessionFile, '.jsonl'), 'subagents');
}

/** The file of a subagent, or the place where it would be. Subagents of a workflow are in `workflows/wf_…`. */
export function subagentFile(sessionFile: string, agentId: string): string {
  const folder = subagentFolder(sessionFile);
  const workflows = join(folder, 'workflows');
  const name = `agent-${basename(agentId)}.jsonl`;
  const file = join(folder, name);
  if (existsSync(file) || !existsSync(workflows)) return file;
  const files = readdirSync(workflows).map((workflow) => join(workflows, workflow, name));
  return files.find((one) => existsSync(one)) ?? file;
}
