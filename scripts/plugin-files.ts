import { HOOK_MARK, hookGroups } from '../src/hosts/claude-code/init-hooks.ts';
import { LEAST_NODE } from '../src/hosts/claude-code/least-node.ts';

/** Path and content of a text file. */
type TextFile = readonly [path: string, text: string];

const DESCRIPTION = 'Records each session, notices when it gets stuck, and says so softly. Advice, never a gate.';

const README = `# coxswain for Claude Code

Records each session in your data folder, notices when the agent loops, fails repeatedly for one cause, or runs
out of time, and tells the agent in a few lines. It never denies or changes a call, and its faults never reach the agent.

Needs Node 22.23 or newer: on the PATH, or installed by nvm, fnm, volta, asdf, Homebrew or an installer. Without one it reports that
at the start of a session, and does nothing else.
Secrets are replaced before anything is written. Nothing leaves the machine. COXSWAIN_DISABLE=1 turns it off. coxswain.config.json
sets the advice; "coxswain doctor" and "coxswain report" of the npm package coxswain read the records.
`;

/**
 * A shell script that finds a recent enough Node outside the PATH and runs `hook.cjs` with it. If it finds none, it reports
 * that to the user when a session starts. It uses only shell built-ins, because the PATH may contain no other program.
 */
const FIND_NODE = `#!/bin/sh
here="\${0%/*}"
new='var v=process.versions.node.split(".").map(Number);process.exit(v[0]>${LEAST_NODE[0]}||(v[0]===${LEAST_NODE[0]}&&v[1]>=${LEAST_NODE[1]})?0:1)'
for node in "\${NVM_DIR:-$HOME/.nvm}"/versions/node/*/bin/node "\${FNM_DIR:-$HOME/.local/share/fnm}"/node-versions/*/installation/bin/node \\
  "$HOME"/.volta/tools/image/node/*/bin/node "$HOME"/.asdf/installs/nodejs/*/bin/node \\
  /opt/homebrew/bin/node /usr/local/bin/node "$HOME"/.local/bin/node; do
  if [ -x "$node" ] && "$node" -e "$new" </dev/null >/dev/null 2>&1; then exec "$node" "$here/hook.cjs" ${HOOK_MARK}; fi
done
IFS= read -r event
case "$event" in
  *'"hook_event_name":"SessionStart"'* | *'"hook_event_name": "SessionStart"'*)
    printf '{"systemMessage":"coxswain records nothing in this session: it needs Node ${LEAST_NODE.join('.')} or newer and found %s. Install it from https://nodejs.org"}\\n' "\${COXSWAIN_OLD_NODE:-none}" ;;
esac
exit 0
`;

/**
 * The text files of the Claude Code plugin: its manifest and its hooks. The hooks run `launch.cjs` with the `node` in the
 * user's PATH. Without a `node` in the PATH they run `find-node.sh`.
 */
export function pluginFiles(version: string): readonly TextFile[] {
  const root = '${CLAUDE_PLUGIN_ROOT}';
  const command = `command -v node >/dev/null 2>&1 && exec node "${root}/launch.cjs" ${HOOK_MARK}; exec /bin/sh "${root}/find-node.sh" ${HOOK_MARK}`;
  const description = DESCRIPTION;
  const hooks = Object.fromEntries([...hookGroups(command)].map(([event, group]) => [event, [group]]));
  return [
    [
      '.claude-plugin/plugin.json',
      jsonText({ name: 'coxswain', version, description, author: { name: 'coxswain' }, license: 'Apache-2.0' }),
    ],
    ['hooks/hooks.json', jsonText({ description, hooks })],
    ['find-node.sh', FIND_NODE],
    ['README.md', README],
  ];
}

/** The marketplace file. It is stored next to the plugin's folder. */
export function marketplaceFile(version: string): TextFile {
  const plugin = { name: 'coxswain', source: './plugin', description: DESCRIPTION, version };
  const marketplace = {
    name: 'coxswain',
    owner: { name: 'coxswain' },
    metadata: { description: DESCRIPTION },
    plugins: [plugin],
  };
  return ['.claude-plugin/marketplace.json', jsonText(marketplace)];
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
