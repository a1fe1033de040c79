import type { ToolKind } from './tool-kind.ts';

const READERS =
  'cat head tail less more grep egrep fgrep rg ag ls dir tree find fd stat file wc diff cmp which whereis type pwd whoami id env printenv date uname hostname df du ps top lsof netstat ss jq yq awk cut sort uniq tr rev xxd od strings nl column basename dirname realpath readlink md5sum sha1sum sha256sum test [ true false man help history tshark tcpdump objdump nm readelf exiftool zcat zgrep bat ft fl'.split(
    ' ',
  );
const WRITERS =
  'rm mv cp mkdir rmdir touch chmod chown ln tee dd truncate install patch tar unzip zip gzip gunzip bunzip2 xz wget rsync scp kill pkill killall crontab useradd service mount umount apply_patch'.split(
    ' ',
  );
/** Programs that set the scene for another one. */
export const SCENERY: ReadonlySet<string> = new Set(
  'cd pushd popd export set unset source . alias echo printf true : sudo env time nohup command exec eval then'.split(
    ' ',
  ),
);
const WAITERS = new Set(['sleep', 'wait', 'start-sleep']);
/** Programs that say how jobs stand. */
const QUEUES = ['squeue', 'sacct', 'qstat', 'bjobs'];

/** Programs that do one thing only. */
const TRADES: ReadonlyMap<string, ToolKind> = new Map([
  ...kindFor('read', SCENERY),
  ...kindFor('write', WRITERS),
  ...kindFor('read', READERS),
  ...kindFor('poll', QUEUES),
]);

function kindFor(kind: ToolKind, programs: Iterable<string>): readonly (readonly [string, ToolKind])[] {
  return Array.from(programs, (program) => [program, kind] as const);
}

/** Programs of several trades: what their subcommand does. */
const SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, ToolKind>>>> = {
  git: {
    status: 'read',
    log: 'read',
    diff: 'read',
    show: 'read',
    branch: 'read',
    blame: 'read',
    grep: 'read',
    'ls-files': 'read',
    remote: 'read',
    'rev-parse': 'read',
    describe: 'read',
    add: 'write',
    commit: 'write',
    checkout: 'write',
    switch: 'write',
    merge: 'write',
    rebase: 'write',
    reset: 'write',
    restore: 'write',
    stash: 'write',
    push: 'write',
    pull: 'write',
    fetch: 'write',
    clone: 'write',
    apply: 'write',
    rm: 'write',
    mv: 'write',
    bisect: 'write',
    'cherry-pick': 'write',
    revert: 'write',
    am: 'write',
    clean: 'write',
    init: 'write',
  },
  gh: { run: 'poll', pr: 'read', issue: 'read', workflow: 'poll', api: 'read', release: 'read', repo: 'read' },
  kubectl: {
    get: 'poll',
    logs: 'poll',
    rollout: 'poll',
    describe: 'read',
    apply: 'write',
    delete: 'write',
    create: 'write',
  },
  docker: { ps: 'poll', logs: 'poll', inspect: 'read', images: 'read', run: 'execute', build: 'execute', rm: 'write' },
  oc: { get: 'poll', logs: 'poll', status: 'poll', describe: 'read', apply: 'write', delete: 'write', create: 'write' },
  helm: { status: 'poll', list: 'read', get: 'read', install: 'write', upgrade: 'write', uninstall: 'write' },
  glab: { ci: 'poll', mr: 'read', issue: 'read' },
  npm: { install: 'write', i: 'write', ci: 'write', uninstall: 'write', ls: 'read', view: 'read' },
  pnpm: { install: 'write', add: 'write', remove: 'write' },
  yarn: { install: 'write', add: 'write', remove: 'write' },
  pip: { install: 'write', uninstall: 'write', list: 'read', show: 'read', freeze: 'read' },
  pip3: { install: 'write', uninstall: 'write', list: 'read', show: 'read' },
  apt: { install: 'write', update: 'write', remove: 'write' },
  'apt-get': { install: 'write', update: 'write', remove: 'write' },
  uv: { pip: 'write', add: 'write', sync: 'write', remove: 'write' },
  poetry: { add: 'write', install: 'write', remove: 'write' },
  conda: { install: 'write', create: 'write', list: 'read' },
  brew: { install: 'write', list: 'read' },
  gem: { install: 'write' },
  bundle: { install: 'write' },
  cargo: { add: 'write', install: 'write' },
  go: { get: 'write', install: 'write', mod: 'write' },
  systemctl: {
    status: 'poll',
    'is-active': 'poll',
    start: 'write',
    stop: 'write',
    restart: 'write',
    enable: 'write',
    disable: 'write',
  },
};

/** Whether a program only lets time pass; PowerShell takes its names in any case. */
export function isWaiter(program: string): boolean {
  return WAITERS.has(program.toLowerCase());
}

/**
 * What a program does, by its name and its first words. One that nothing is known of runs something.
 *
 * @param args  the words behind it
 */
export function kindOfProgram(program: string, args: readonly string[]): ToolKind {
  const trade = TRADES.get(program);
  if (trade !== undefined) return trade;
  if (Object.hasOwn(SUBCOMMANDS, program)) return kindOfSubcommand(program, args);
  if (CLOUDS.has(program)) return args.map(kindOfCloudVerb).find((kind) => kind !== undefined) ?? 'execute';
  if (program === 'sed' || program === 'perl')
    return args.some((word) => /^-\w*i/.test(word)) ? 'write' : program === 'sed' ? 'read' : 'execute';
  if (program === 'curl')
    return args.some((word) => /^(?:-X|-d|--data|--request|-o|-O|-F|-T)/.test(word)) ? 'write' : 'read';
  if (isWaiter(program)) return 'wait';
  const cmdlet = CMDLET.exec(program)?.[1]?.toLowerCase();
  return cmdlet === undefined ? 'execute' : cmdletKind(program, cmdlet);
}

function kindOfSubcommand(program: string, args: readonly string[]): ToolKind {
  const first = args.find(
    (word, at) => !word.startsWith('-') && !(program === 'git' && /^-[Cc]$/.test(args[at - 1] ?? '')),
  );
  if (first === undefined) return 'execute';
  const kinds = SUBCOMMANDS[program] ?? {};
  const kind = Object.hasOwn(kinds, first) ? kinds[first] : undefined;
  // What has happened is read; only what goes on is waited for.
  if (program === 'kubectl' && first === 'get' && args.some((word) => /^(?:events?|ev)$/.test(word))) return 'read';
  if (program === 'gh' && kind !== undefined) return kindOfVerb(args[args.indexOf(first) + 1] ?? '') ?? kind;
  return kind ?? 'execute';
}

const CLOUDS = new Set('az aws gcloud oci ibmcloud doctl heroku flyctl vercel netlify openstack'.split(' '));
const CLOUD_READS = /^(?:list|ls|show|get|describe|view|head|logs?|status|query|search|find|wait)(?:-|$)/;
const CLOUD_WRITES =
  /^(?:create|delete|update|start|stop|restart|deallocate|set|put|add|remove|rm|cp|mv|sync|apply|deploy|destroy|enable|disable|attach|detach|tag|scale|rollback|promote|reset|import|terminate|reboot|modify)(?:-|$)/;

/** Services name what is done behind what it is done to: `az vm stop`, `aws ec2 describe-instances`. */
function kindOfCloudVerb(word: string): ToolKind | undefined {
  if (CLOUD_WRITES.test(word)) return 'write';
  return CLOUD_READS.test(word) ? 'read' : undefined;
}

/** `Get-PrintJob`: PowerShell names what is done first. */
const CMDLET = /^([A-Za-z]+)-[A-Za-z]\w+$/;
const CMDLET_READS = new Set(
  'get test select where measure find resolve format sort compare show convertfrom convertto group write'.split(' '),
);
const CMDLET_WRITES = new Set(
  'set new remove add copy move rename clear install uninstall out export stop restart resume suspend enable disable expand'.split(
    ' ',
  ),
);

function cmdletKind(program: string, verb: string): ToolKind {
  if (program.toLowerCase() === 'out-string' || CMDLET_READS.has(verb)) return 'read';
  return CMDLET_WRITES.has(verb) ? 'write' : 'execute';
}

/** The second word of `gh pr create`, `gh pr checks`. */
function kindOfVerb(verb: string): ToolKind | undefined {
  if (/^(?:create|merge|close|reopen|edit|comment|review|delete|rerun|cancel|upload|fork|clone)$/.test(verb))
    return 'write';
  return /^(?:checks|watch)$/.test(verb) ? 'poll' : undefined;
}
