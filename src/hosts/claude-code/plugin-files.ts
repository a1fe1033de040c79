import { HOOK_MARK, hookGroups } from './init-hooks.ts';

/** Path and text of a file. */
type TextFile = readonly [path: string, text: string];

const README = `# coxswain for Claude Code

Records each session in .coxswain/runs.db of the project, notices when the agent goes round in circles, fails for one cause again
and again, or runs out of time, and tells it so in a few lines. It never denies or changes a call, and a fault of its own never
reaches the agent.

Needs Node 22.23 or newer on the PATH; on an older one it does nothing but leave a line in ~/.local/state/coxswain/faults.jsonl.
Secrets are replaced before anything is written. Nothing leaves the machine. COXSWAIN_DISABLE=1 turns it off. What it says, and
when, is set in coxswain.config.json; "coxswain doctor" and "coxswain report" of the npm package coxswain read what it recorded.
`;

/**
 * The files of the Claude Code plugin, but for the programs: what it is called, and which events call `launch.cjs` beside
 * them, with the `node` of the user's PATH.
 */
export function pluginFiles(version: string): readonly TextFile[] {
  const command = `node "\${CLAUDE_PLUGIN_ROOT}/launch.cjs" ${HOOK_MARK}`;
  const description = 'Records each session, notices when it gets stuck, and says so softly. Advice, never a gate.';
  const hooks = Object.fromEntries([...hookGroups(command)].map(([event, group]) => [event, [group]]));
  const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
  return [
    [
      '.claude-plugin/plugin.json',
      json({ name: 'coxswain', version, description, author: { name: 'coxswain' }, license: 'Apache-2.0' }),
    ],
    ['hooks/hooks.json', json({ description, hooks })],
    ['README.md', README],
  ];
}
