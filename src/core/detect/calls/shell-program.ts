import { wordSet } from '../../base/word-set.ts';
import type { ToolKind } from './tool-kind.ts';

/** A script of a project may have the name of a system program: `bin/test`. */
export const PROJECT_SCRIPT: RegExp = /^[^/~].*\//;

export const SETUP_PROGRAMS: ReadonlySet<string> = wordSet(
  'cd pushd popd export set unset source . alias echo printf true : sudo env time nohup command exec eval then',
);
/** Programs with a single purpose, by kind. The kind of any other program is `execute`. */
const SINGLE_PURPOSE: readonly (readonly [ToolKind, ReadonlySet<string>])[] = [
  ['wait', wordSet('sleep wait')],
  ['read', SETUP_PROGRAMS],
  [
    'read',
    wordSet(
      `cat head tail less more grep egrep fgrep rg ag ls dir tree find fd stat file wc diff cmp which type pwd whoami id printenv
       date uname hostname df du ps lsof jq yq awk cut sort uniq tr xxd od strings nl basename dirname realpath md5sum sha256sum
       test [ false man`,
    ),
  ],
  [
    'write',
    wordSet(
      `rm mv cp mkdir rmdir touch chmod chown ln tee dd truncate install patch tar unzip zip gzip gunzip wget rsync scp kill pkill
       apply_patch`,
    ),
  ],
];
const MULTI_PURPOSE = wordSet(
  'git gh kubectl docker helm npm pnpm yarn pip pip3 apt apt-get uv poetry conda cargo go systemctl',
);
/** Programs that report the state of remote or background processes. */
const WATCHERS = new Set(['gh', 'kubectl', 'docker', 'helm', 'systemctl']);
const WATCHES = /^(?:status|get|logs?|ps|rollout|checks|watch|run|ci|workflow)$/;
const READS =
  /^(?:status|log|logs|diff|show|branch|blame|grep|ls-files|remote|rev-parse|ls|list|get|view|info|freeze|search|inspect|api|query|describe|ps)$/;
const WRITES =
  /^(?:add|commit|checkout|switch|merge|rebase|reset|restore|stash|push|pull|fetch|clone|apply|rm|mv|cherry-pick|revert|clean|init|install|i|ci|uninstall|upgrade|sync|mod|close|reopen|edit|comment|rerun|cancel|create|delete|update|start|stop|restart|remove|set)$/;
/** Program names that identify a command line. None of them is an ordinary English word. */
const KNOWN_PROGRAMS = wordSet(
  `ls cat grep rg wc diff jq awk sed curl wget rm mv cp mkdir chmod tar bash python python3 node bun npx make gcc java
 pytest tsc psql ssh echo cd export sleep`,
);

/** Returns true if the word is the name of a common program and not an ordinary English word. */
export function isProgram(word: string): boolean {
  return MULTI_PURPOSE.has(word) || KNOWN_PROGRAMS.has(word);
}

export function isListedProgram(program: string): boolean {
  return /^\w/.test(program) && (isProgram(program) || SINGLE_PURPOSE.some(([, programs]) => programs.has(program)));
}

export function isMultiPurpose(program: string): boolean {
  return MULTI_PURPOSE.has(program);
}

/** Returns the kind of a command from its program and arguments; `execute` for an unknown program. */
export function kindOfProgram(program: string, args: readonly string[]): ToolKind {
  const entry = SINGLE_PURPOSE.find(([, programs]) => programs.has(program));
  if (entry !== undefined) return entry[0];
  if (MULTI_PURPOSE.has(program)) return kindOfSubcommand(program, args);
  const hasOption = (pattern: RegExp): boolean => args.some((word) => pattern.test(word));
  if (program === 'sed' || program === 'perl')
    return hasOption(/^-\w*i/) ? 'write' : program === 'sed' ? 'read' : 'execute';
  if (program === 'curl') return hasOption(/^(?:-X|-d|--data|--request|-o|-O|-F|-T)/) ? 'write' : 'read';
  return 'execute';
}

/** Returns the kind from the first words that are not options, as in `gh pr create`. `npm run list` runs a script. */
function kindOfSubcommand(program: string, args: readonly string[]): ToolKind {
  const isPackageManager = program === 'npm' || program === 'pnpm' || program === 'yarn';
  const words = args
    .filter((word, index) => !word.startsWith('-') && !/^-[CcnR]$/.test(args[index - 1] ?? ''))
    .slice(0, isPackageManager ? 1 : 3);
  const isWatcher = WATCHERS.has(program);
  const writeWord = words.find((word) => WRITES.test(word));
  if (writeWord !== undefined && !(isWatcher && WATCHES.test(writeWord))) return 'write';
  if (isWatcher && program !== 'docker' && words.some((word) => WATCHES.test(word))) return 'poll';
  if (isWatcher && ['ps', 'logs'].includes(words[0] ?? '')) return 'poll';
  return words.some((word) => READS.test(word)) ? 'read' : 'execute';
}
