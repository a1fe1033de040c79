import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { projectStoreFile } from '../../src/core/node/git-folder.ts';

/** Stands in the user's private files: nothing that coxswain prints or writes may hold it. */
export const SECRET = 'private-key-of-the-user';

/** Folders below the sandbox in which our own state, caches and temporary files change. */
const OWN = ['home/.local/state', 'home/.local/share', 'temp'];
const HASHED_BYTES = 1024 * 1024;

/** The content at each path below a folder. */
export type Snapshot = ReadonlyMap<string, string>;

/**
 * A user's machine in a temporary folder: their home with private files, another repository of theirs, and a project that was
 * cloned from somebody.
 */
export class Sandbox {
  readonly root: string = mkdtempSync(join(tmpdir(), 'coxswain-hostile-'));
  readonly home: string = join(this.root, 'home');
  project: string = join(this.root, 'project');
  /** Where a program of the repository would leave a file if it ran. */
  readonly ran: string = join(this.root, 'ran');
  readonly env: Readonly<Record<string, string>>;
  /** Functions that release resources of the sandbox. */
  readonly #open: (() => void)[] = [];

  /** @param cache  a folder for compiled code that sandboxes share */
  constructor(cache: string) {
    for (const folder of ['.ssh', '.claude', '.config', '.local/state', '.local/share/coxswain', 'other/.git/info']) {
      mkdirSync(join(this.home, folder), { recursive: true, mode: 0o700 });
    }
    for (const folder of [this.ran, join(this.root, 'temp'), join(this.root, 'outside')]) mkdirSync(folder);
    writeFileSync(join(this.home, '.bashrc'), `# ${SECRET}\n`);
    writeFileSync(join(this.home, '.ssh/id'), `${SECRET}\n`, { mode: 0o600 });
    writeFileSync(join(this.home, 'other/.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(this.home, 'other/.git/info/exclude'), '# mine\n');
    this.write('.git/HEAD', 'ref: refs/heads/main\n');
    this.write('.git/config', '[core]\n\tbare = false\n');
    this.write('.git/info/exclude', '');
    this.write('src/a.ts', 'export const a = 1;\n');
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.home,
      TMPDIR: join(this.root, 'temp'),
      XDG_CACHE_HOME: cache,
      NODE_COMPILE_CACHE: cache,
      COXSWAIN_THREADS: process.env['COXSWAIN_THREADS'] ?? '',
    };
  }

  /** The path of something in the project. */
  at(path: string): string {
    return join(this.project, path);
  }

  write(path: string, content: string | Uint8Array, mode = 0o644): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), content, { mode });
  }

  folder(path: string): void {
    mkdirSync(this.at(path), { recursive: true });
  }

  /** Puts a link into the project. */
  link(path: string, target: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    rmSync(this.at(path), { recursive: true, force: true });
    symlinkSync(target, this.at(path));
  }

  /** Creates a named pipe in the project; opening it blocks. */
  pipe(path: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    rmSync(this.at(path), { recursive: true, force: true });
    if (spawnSync('mkfifo', [this.at(path)]).status !== 0) throw new Error(`mkfifo ${path}`);
  }

  /** Puts a socket into the project. */
  async socket(path: string): Promise<void> {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    rmSync(this.at(path), { force: true });
    const server = createServer();
    this.#open.push(() => void server.close());
    await new Promise<void>((resolve) => server.listen(this.at(path), resolve));
  }

  /** Puts a file of zeros into the project that takes no room on the disk. */
  sparse(path: string, bytes: number): void {
    this.write(path, '');
    truncateSync(this.at(path), bytes);
  }

  /** A command for a shell that leaves a file where this test looks. */
  canary(name: string): string {
    return `touch ${this.ran}/${name}`;
  }

  /** Puts a program into the project that leaves a file where this test looks. */
  program(path: string, name: string): void {
    this.write(path, `#!/bin/sh\n${this.canary(name)}\n`, 0o755);
  }

  /** Gives the project another name. */
  rename(name: string): void {
    const renamed = join(this.root, name);
    renameSync(this.project, renamed);
    this.project = renamed;
  }

  /** The file of the project's runs, in the user's data folder. */
  get store(): string {
    return projectStoreFile(this.project, { env: this.env });
  }

  git(...args: readonly string[]): void {
    const config = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
    const { status, stderr } = spawnSync('git', [...config, ...args], {
      cwd: this.project,
      env: { ...this.env, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
  }

  /** Everything that is neither the project nor our own. Changes when a file is written, even with what it held. */
  outside(): Snapshot {
    const own = new Set([...OWN.map((path) => join(this.root, path)), this.project]);
    return snapshot(this.root, (path) => !own.has(path), true);
  }

  inside(): Snapshot {
    return snapshot(this.project, () => true, false);
  }

  /** Calls `end` with the sandbox. */
  endWith(end: () => void): void {
    this.#open.push(end);
  }

  dispose(): void {
    try {
      for (const end of this.#open) end();
    } finally {
      rmSync(this.root, { recursive: true, force: true });
    }
  }
}

function snapshot(root: string, counts: (path: string) => boolean, withTimes: boolean): Snapshot {
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    const facts = lstatSync(path);
    const time = withTimes ? ` ${facts.mtimeMs}` : '';
    found.set(path.slice(root.length), `${facts.mode.toString(8)} ${contentOf(path)}${time}`);
    if (!facts.isDirectory()) return;
    for (const name of namesIn(path)) if (counts(join(path, name))) visit(join(path, name));
  };
  visit(root);
  return found;
}

/** Returns an empty list for an unreadable folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function contentOf(path: string): string {
  const facts = lstatSync(path);
  if (facts.isSymbolicLink()) return `to ${readlinkSync(path)}`;
  if (!facts.isFile()) return '';
  if (facts.size > HASHED_BYTES) return `${facts.size} bytes, ${facts.mtimeMs}`;
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** The paths in which two snapshots differ. */
export function changes(before: Snapshot, after: Snapshot): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}
