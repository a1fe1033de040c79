import type { ToolKind } from './tool-kind.ts';

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/** Programs that set the scene for another one. */
export const SCENERY: ReadonlySet<string> = words(
  'cd pushd popd export set unset source . alias echo printf true : sudo env time nohup command exec eval then',
);
/** Programs that do one thing only. Any other one runs something. */
const TRADES: readonly (readonly [ToolKind, ReadonlySet<string>])[] = [
  ['wait', words('sleep wait start-sleep')],
  ['read', SCENERY],
  [
    'read',
    words(
      `cat head tail less more grep egrep fgrep rg ag ls dir tree find fd stat file wc diff cmp which whereis type pwd whoami id
       printenv date uname hostname df du ps top lsof netstat ss jq yq awk cut sort uniq tr xxd od strings nl basename dirname
       realpath readlink md5sum sha256sum test [ false man help history nm objdump zcat bat ft`,
    ),
  ],
  [
    'write',
    words(
      `rm mv cp mkdir rmdir touch chmod chown ln tee dd truncate install patch tar unzip zip gzip gunzip wget rsync scp kill pkill
       crontab service mount umount apply_patch`,
    ),
  ],
  ['poll', words('squeue sacct qstat bjobs')],
];
/** Programs of many trades: one of their words says what is done. */
const MANY_TRADES = words(
  `git gh glab kubectl oc docker podman helm npm pnpm yarn pip pip3 apt apt-get uv poetry conda brew gem bundle cargo go systemctl
   az aws gcloud heroku flyctl vercel`,
);
/** Those that say how something stands that goes on elsewhere. */
const WATCHERS = words('gh glab kubectl oc docker podman helm systemctl');
const LOOKS = /^(?:status|get|logs?|ps|rollout|checks|watch|run|ci|is-active|workflow)$/;
const READS =
  /^(?:status|log|logs|diff|show|branch|blame|grep|ls-files|remote|rev-parse|ls|list|get|view|info|freeze|search|inspect|images|api|query|head|ps|(?:describe|list|get)(?:-\S+)?)$/;
const WRITES =
  /^(?:add|commit|checkout|switch|merge|rebase|reset|restore|stash|push|pull|fetch|clone|apply|rm|mv|bisect|cherry-pick|revert|am|clean|init|install|i|ci|uninstall|upgrade|sync|mod|close|reopen|edit|comment|rerun|cancel|rollback|scale|(?:create|delete|update|start|stop|restart|remove|set|put|enable|disable|deploy|deallocate|terminate|modify)(?:-\S+)?)$/;
/** `Get-PrintJob`: PowerShell names what is done first, in any case. */
const CMDLET = /^([A-Za-z]+)-[A-Za-z]\w+$/;
const CMDLET_READS = words(
  'get test select where measure find resolve format sort compare show convertfrom convertto write',
);
const CMDLET_WRITES = words(
  'set new remove add copy move rename clear install uninstall out stop start restart enable disable',
);

/** Whether a text is the name of a program that is no word of plain language. */
export function isProgram(word: string): boolean {
  return MANY_TRADES.has(word) || PROGRAMS.has(word);
}

const PROGRAMS = words(
  `ls cat grep egrep rg ag stat wc diff cmp whoami printenv uname df du ps lsof netstat jq awk pwd sed perl curl wget rm mv cp mkdir
   chmod tar unzip gzip bash sh zsh python python3 node deno bun npx make gcc java mvn gradle pytest jest vitest ruby php dotnet
   terraform ansible psql mysql sqlite3 ssh scp adb echo cd export tsc eslint ruff mypy ffmpeg sleep squeue`,
);

/**
 * What a program does, by its name and its words. One that is not known runs something.
 *
 * @param args  the words behind it
 */
export function kindOfProgram(program: string, args: readonly string[]): ToolKind {
  const small = program.toLowerCase();
  const trade = TRADES.find(([, programs]) => programs.has(small));
  if (trade !== undefined) return trade[0];
  if (MANY_TRADES.has(program)) return kindOfWords(program, args);
  const option = (pattern: RegExp): boolean => args.some((word) => pattern.test(word));
  if (program === 'sed' || program === 'perl')
    return option(/^-\w*i/) ? 'write' : program === 'sed' ? 'read' : 'execute';
  if (program === 'curl') return option(/^(?:-X|-d|--data|--request|-o|-O|-F|-T)/) ? 'write' : 'read';
  const verb = CMDLET.exec(small)?.[1] ?? '';
  if (CMDLET_READS.has(verb)) return 'read';
  return CMDLET_WRITES.has(verb) ? 'write' : 'execute';
}

/** By the first word that says something: `az vm stop`, `gh pr create`, `npm run list` runs a script. */
function kindOfWords(program: string, args: readonly string[]): ToolKind {
  const named = args.filter((word, at) => !word.startsWith('-') && !/^-[CcnR]$/.test(args[at - 1] ?? '')).slice(0, 3);
  if (program === 'npm' || program === 'pnpm' || program === 'yarn') named.length = Math.min(named.length, 1);
  // What has happened is read; only what goes on is waited for.
  const looks = WATCHERS.has(program) && !named.some((word) => /^ev(?:ents?)?$/.test(word));
  const written = named.find((word) => WRITES.test(word));
  if (written !== undefined && !(looks && LOOKS.test(written))) return 'write';
  if (program !== 'docker' && looks && named.some((word) => LOOKS.test(word))) return 'poll';
  if (looks && /^(?:ps|logs)$/.test(named[0] ?? '')) return 'poll';
  return named.some((word) => READS.test(word)) || (looks && /^(?:pr|issue|release|repo|mr)$/.test(named[0] ?? ''))
    ? 'read'
    : 'execute';
}
