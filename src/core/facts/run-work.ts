import { isJsonObject, type Json, present, textOrUndefined } from '../base/json.ts';
import { hashText } from '../base/hash.ts';
import { LruMap } from '../base/lru-map.ts';
import { commandLineOf, COMMIT, commitsIn, patchIn } from './check-command.ts';
import { backgroundIdIn } from './background-output.ts';
import {
  certainChangesOf,
  commitCommands,
  filesWrittenIn,
  placeOf,
  shellChangesOf,
  withoutDocuments,
  type ShellChange,
} from './shell-changes.ts';
import { filesOfPatch } from '../detect/calls/patch-text.ts';
import { printedIn, shellAnswer } from '../detect/calls/shell-answer.ts';
import { readCall } from '../detect/calls/tool-semantics.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { SESSION_NAMED } from '../records/words.ts';
import { asksPerson } from './last-act.ts';
import { FirstRequestFold } from './first-request.ts';
import { type LastWords, LastWordsFold } from './last-words.ts';
import { DELEGATES } from './usage-fold.ts';
import { taskTitle } from './task-title.ts';
import type { RunCall } from './run-call.ts';
import type { LastChange } from './run-verdict.ts';

export interface RunWork extends LastWords {
  /** Files that its calls changed, with the paths used by the calls, at most 500. Temporary files are last. */
  readonly filesChanged: readonly string[];
  /** Number of these files that were changed after the last commit of the run. */
  readonly uncommitted: number;
  /** The last change of a file that is no text, no temporary file and no file of an agent program. */
  readonly lastChange?: LastChange;
  readonly commits: number;
  /** The number of these commits on each branch that git named, by branch. Absent if none. */
  readonly commitsOn?: Readonly<Record<string, number>>;
  /** Number of these commits with `--no-verify`, which run no hook. Absent if none. */
  readonly commitsWithoutHooks?: number;
  /** The branch of the last commit, or the last branch that the run created. */
  readonly branch?: string;
  /** The addresses of the pull requests that it made, the latest first, at most 20. Absent if none. */
  readonly pullRequests?: readonly string[];
  /** Number of subagents that it started. Absent if none. */
  readonly delegated?: number;
  /** True if it reordered, squashed or left out commits, so that those of its commands are not those of the branch. Absent if not. */
  readonly rewroteHistory?: true;
  /** Number of refused calls that showed a plan or asked a question. Absent if none. */
  readonly declined?: number;
  readonly plan?: string;
  /** The name of the session in its host. */
  readonly name?: string;
}

const MAX_FILES = 500;
const MAX_SUBJECTS = 500;
const MAX_EDITS = 20;
const NO_BRANCH = 'detached HEAD';
/** A file name in a shell variable, whose value is not recorded. */
const VARIABLE = /^["']?\$\{?\w+\}?["']?$/;
/** Also those of a program in a folder of its own: `.entire/tmp/x.json`. */
export const TEMPORARY: RegExp =
  /^(?:\/private)?\/(?:tmp|var\/(?:tmp|folders))\/|[\\/]AppData[\\/]Local[\\/]Temp[\\/]|(?:^|\/)\.\w+\/tmp\//;

/** Plans, memories and other files that Claude Code keeps for itself. */
const OWN_NOTE = /\/\.claude\/(?:plans|projects)\/|(?:^|\/)\.git\//;
const NO_SOURCE = /(?:^|\/)\.claude\/|\.(?:mdx?|txt|rst|log|exe|msi|pdb|zip|t?gz|whl)$/i;
/** A word of a shell command that is a file: it has a folder or an extension, and no character of a header or a format. */
const FILE = /^(?:[A-Za-z]:(?=[\\/]))?(?=.*[./])[^\s:;{}%*?<>|"'`$()]+$/;
/** The archive that it names is only read. */
const UNPACKS = /\btar\s+-?\w*x/;
/** An address, a folder, or a script of sed. */
const NO_FILE = /^\w+:\/\/|(?:^|\/)\.{0,2}$|^s([/|#,]).*\1.*\1\w*$/;
const FOLDER_TOOL = /dir(?:ectory)?(?:$|_)|folder/i;
/** Members of arguments that name a folder or a page. */
const PLACES = ['cwd', 'workdir', 'working_directory', 'dir', 'url'];
const EXTENSION = /[^/]\.\w+$|(?:^|\/)\.(?:env|\w+(?:rc|ignore))$/;
/** Before a name without an extension that is a file: a redirection, or a program that changes files only. */
const BEFORE_FILE = /(?:>|\b(?:touch|tee|sed|perl|rm|chmod)\b(?! -\w*[rR])[^;&|]*)\s*["']?$/;
/** A command that works in a folder of its own, made for it. */
const SCRATCH =
  /\b(?:cd|pushd)\s+"?(?:\$\(|`)mktemp\b|\b(\w+)="?(?:\$\(|`)mktemp\b[^]*?\b(?:cd|pushd)\s+"?\$\{?\1\b(?!\/)/;
/** Commands after which commits are made again. */
const REWRITES = /\bgit (?:-\S+ \S+ )*(?:rebase|reset|pull\b[^;&|\n]*--rebase)\b/;
/** Commands that leave other commits than those that were made: with a list of steps, or a reset to another place. */
const REWRITES_HISTORY =
  /\bgit (?:-\S+ \S+ )*(?:filter-(?:branch|repo)\b|rebase\b[^;&|\n]*\s(?:-i|--interactive|--autosquash|--onto)\b|reset --hard (?!HEAD\b|@|origin\/)\S)/;
/** What a search looks for. */
const SEARCHED = /\b(?:[ef]?grep|rg)\b(?:[^|;&\n"']|"[^"]*"|'[^']*')*/g;
/** Commands that make commits of others. */
const PICKS = /\bgit (?:-\S+ \S+ )*(?:revert|cherry-pick)\b/;
const SQUASHES = /\brebase\b[^;&|\n]*--autosquash\b/;
const FIXUP = /^(?:fixup|squash|amend)! /;
const NEW_BRANCH = /\bgit (?:-C \S+ )?(?:checkout -[bB]|switch -[cC]|branch -[mM])\s+([\w./-]+)/;
const PULL_REQUEST = /\b(?:gh pr|glab mr) create\b/g;
const PULL_ADDRESS = /https:\/\/\S+\/(?:pull|merge_requests)\/\d+/g;
const MAX_PULL_REQUESTS = 20;
/** A result of a tool that says so. */
const CREATED = /^.{0,40}\b(?:created|wrote)\b/i;
/** Programs that change a file that exists. */
const CHANGES = /\b(?:sed|perl|chmod|rm|mv|git|patch)\b/;
/** What git, husky and wrappers print if a chain goes on after a commit that was not made. */
const NOT_COMMITTED =
  /^FAILED: git commit\b|^husky - \S+ (?:script|hook)\b.*\b(?:failed|code)\b|^nothing (?:added )?to commit\b|^no changes added to commit\b/m;
const AMENDS = /\bgit (?:-\S+ \S+ )*commit\b[^;&|\n]*?\s--amend\b|\bgt modify\b/g;
/** Graphite, which prints what git says of the files. */
const STACKS = /\bgt (?:create|modify)\b/;
const FILES_CHANGED = /^ ?\d+ files? changed\b/m;
/** Makes a repository among temporary files. */
const MAKES_SCRATCH = /(?:\/tmp\/|\bmktemp\b)[^]*\bgit init\b/;
/** What a rebase and the like print when they have made their commits. */
const CONTINUED = /^(?:Successfully rebased|\[detached HEAD [\da-f]{7,}\])/m;
/** `-n` is the short form. */
const NO_HOOKS = /\bgit (?:-\S+ \S+ )*commit\b[^;&|\n]*?\s(?:--no-verify|-n)(?=\s|$)/;

/** A reset that takes commits back: `HEAD~2`, `@^^`. */
const UNDOES = /\bgit (?:-\S+ \S+ )*reset\b(?![^;&|\n]* -- )[^;&|\n]*?\s(?:HEAD|@)(?:~(\d*)|(\^+))/;
/** What git prints of a commit that takes another one back, by its subject. */
const REVERTED = /^Revert "(.*)"$/;
const DELETED = /^ delete mode \d+ (.+)$/gm;
/** A here-document or a quoted text. */
const QUOTED = /<<-?\s*(['"]?)(\w+)\1[^]*?\n\s*\2\b|"[^"]*"|'[^']*'/g;

/** More commits are not counted: memory is bounded. */
const MAX_COMMITS = 10_000;

interface Commit {
  /** Key of its subject. */
  readonly subject: string;
  readonly branch: string | undefined;
  /** The files that the run had changed before it. */
  readonly files: Set<string>;
  readonly withoutHooks: boolean;
  /** True for a part of an earlier commit, until a rebase puts it there. */
  readonly isFixup: boolean;
}

/** Collects the work of one run. Cost: reads the arguments of each call whose kind is unknown. */
export class WorkFold {
  readonly #files = new Set<string>();
  /** Those of the files that the run created, as far as its calls show it. */
  readonly #created = new Set<string>();
  #afterCommit = new Set<string>();
  readonly #committed = new Set<string>();
  /** The old names of files that it moved. */
  readonly #movedAway = new LruMap<true>(MAX_FILES);
  /** The files that the last `git stash` put aside, and whether the run created them. */
  #stashed: ReadonlyMap<string, boolean> = new Map();
  /** The source files that it changed, with the call that changed each last. */
  readonly #sources = new LruMap<number>(MAX_FILES);
  /** The last removal of a file that the run itself had created. */
  #removed: LastChange | undefined;
  #lastText: LastChange | undefined;
  #calls = 0;
  #taskFrom = 0;
  /** The edits of each file that are not taken back, as hashes of the text before and after. */
  readonly #edits = new LruMap<readonly string[]>(MAX_FILES);
  readonly #subjects = new Set<string>();
  #rewrites = false;
  #rewroteHistory = false;
  #delegated = 0;
  /** The commits of this run that no reset took back. */
  #commits: Commit[] = [];
  /** A command with a commit that runs in the background. */
  #committing: string | undefined;
  #branch: string | undefined;
  readonly #pullRequests = new Set<string>();
  #declined = 0;
  #plan: string | undefined;
  #name: string | undefined;
  readonly #words = new LastWordsFold();
  readonly #first = new FirstRequestFold();

  fold(payload: TrajectoryPayload, call: RunCall | undefined): void {
    this.#words.fold(payload);
    this.#first.fold(payload);
    if (payload.kind === 'session_event' && payload.event_type === SESSION_NAMED)
      this.#name = textOrUndefined(isJsonObject(payload.data) ? payload.data['name'] : undefined);
    if (payload.kind === 'message_appended' && payload.message.role === 'user') this.#taskFrom = this.#calls + 1;
    this.#calls = Math.max(this.#calls, call?.number ?? 0);
    if (call?.endSeq === undefined) return;
    const plan = isJsonObject(call.args) ? call.args['plan'] : undefined;
    if (typeof plan === 'string') this.#plan = taskTitle(plan);
    if (call.outcome === 'refused' && asksPerson(call.tool)) this.#declined += 1;
    const { args, kind, tool } = call;
    const command = commandLineOf(args);
    const result = payload.kind === 'tool_ended' ? printedIn(payload.result) : '';
    // A push that fails does not take back the commit before it.
    const hasCommitted = call.failed && command !== undefined && commitsIn(result).length > 0;
    if (call.resultMissing || call.outcome !== undefined) return;
    if (call.failed && !hasCommitted) {
      // Without an exit code, the command may not have run.
      if (command !== undefined && payload.kind === 'tool_ended' && shellAnswer(payload.result) !== undefined)
        this.#applyChanges(command, certainChangesOf(command, result), call.number);
      return;
    }
    if (DELEGATES.test(tool) && isJsonObject(args) && typeof (args['prompt'] ?? args['message']) === 'string')
      this.#delegated += 1;
    if (command !== undefined && SCRATCH.test(command)) return;
    if (this.#committing !== undefined && command === undefined && commitsIn(result).length > 0) {
      this.#readCommand(this.#committing, result, call.number);
      this.#committing = undefined;
    }
    const settled = command === undefined ? [] : this.#readCommand(command, result, call.number);
    const [argument] = isJsonObject(args) ? Object.values(args) : [args];
    const patch = patchIn(args) ?? (typeof argument === 'string' ? argument : '');
    const patchedFiles = filesOfPatch(patch);
    for (const file of patchedFiles) {
      const isAdded = patch.includes(`*** Add File: ${file}`);
      const isGone = !isAdded && patch.includes(`*** Delete File: ${file}`) && this.#created.has(file);
      if (isGone) this.#forget([file], call.number);
      else this.#rewriteFile(file, call.number, isAdded);
    }
    if (patchedFiles.length > 0 || (kind !== undefined && kind !== 'write')) return;
    const reading = readCall(tool, args, {});
    const { target } = reading;
    if (reading.kind !== 'write' || target === undefined || VARIABLE.test(target) || NO_FILE.test(target)) return;
    if (/^(?:unzip|gunzip)$/.test(reading.program) || (reading.program === 'tar' && UNPACKS.test(command ?? '')))
      return;
    if (settled.includes(plainPath(target)) || this.#takesBack(target, reading.replaces)) return;
    const script = command ?? (reading.shell ? JSON.stringify(args) : undefined);
    if (script === undefined ? namesFile(tool, args, target) : isFileIn(script, target))
      this.#addFile(
        script === undefined ? target : placeOf(script, target),
        call.number,
        script === undefined ? CREATED.test(result) : !CHANGES.test(script),
      );
  }

  /** Returns true for an edit that puts back the last one left of the file, and forgets the file. */
  #takesBack(file: string, replaces: { readonly before: string; readonly after: string } | undefined): boolean {
    const edits = this.#files.has(file) ? this.#edits.get(file) : [];
    // After another change, or too many, what the file was before is not known.
    if (replaces === undefined || edits === undefined || edits.length === MAX_EDITS) {
      this.#edits.delete(file);
      return false;
    }
    const { after, before } = replaces;
    if (edits.at(-1) !== hashText(`${after}\n\0${before}`)) {
      this.#edits.set(file, [...edits, hashText(`${before}\n\0${after}`)]);
      return false;
    }
    this.#edits.set(file, edits.slice(0, -1));
    if (edits.length > 1) return false;
    for (const files of [this.#files, this.#afterCommit]) files.delete(file);
    return true;
  }

  /** Applies what a command does to files. Returns the words that this settles. */
  #applyChanges(command: string, changes: readonly ShellChange[], number: number): readonly string[] {
    return changes.flatMap(({ files, kind }, index) => {
      const names = files.map((name) => plainPath(name.replaceAll(/^["']|["']$/g, '')));
      const [, to = ''] = names;
      switch (kind) {
        case 'untracked':
          // The files stay as they are.
          return names;
        case 'removed':
          for (const name of names) {
            if (this.#isMovedAway(name) || isMovedTo(name, changes.slice(0, index))) continue;
            const isOwn = this.#forget(this.#filesAt([name], this.#created), number);
            if (!isOwn && isFileIn(command, name)) this.#rewriteFile(name, number, false);
          }
          return names;
        case 'moved':
          // A name that is moved and then removed may be that of a folder.
          this.#move(isRemoved(to, changes.slice(index + 1)) ? names.slice(0, 1) : names, number);
          return names;
        case 'copied':
          if (isFileIn(command, to)) this.#rewriteFile(to, number, true);
          return names;
        case 'created':
        case 'written':
          for (const name of names)
            if (isFileIn(command, name)) this.#rewriteFile(placeOf(command, name), number, kind === 'created');
          return names;
        case 'restored':
          this.#forget(this.#changedAt(names), number);
          return names;
        case 'cleaned':
          this.#forget(
            this.#filesAt(names, this.#created).filter((file) => this.#afterCommit.has(file)),
            number,
          );
          return [];
        case 'stashed':
        case 'stashedAll': {
          const gone = kind === 'stashed' ? this.#changedAt(names) : this.#filesAt(names, this.#afterCommit);
          this.#stashed = new Map(gone.map((file) => [file, this.#created.has(file)]));
          this.#forget(gone, number);
          return names;
        }
        case 'unstashed':
          for (const [name, isNew] of this.#stashed) this.#rewriteFile(name, number, isNew);
          return [];
        case 'dropped':
          this.#stashed = new Map();
          return [];
        default:
          return [];
      }
    });
  }

  #filesAt(names: readonly string[], files: ReadonlySet<string>): readonly string[] {
    return [...files].filter((file) => names.some((name) => name === '.' || isInPath(file, name)));
  }

  /** The files at these places that were changed since the last commit and that git has. */
  #changedAt(names: readonly string[]): readonly string[] {
    return this.#filesAt(names, this.#afterCommit).filter((file) => !this.#created.has(file));
  }

  /** Returns true if there were any. A file that the run committed before stays a changed file. */
  #forget(gone: readonly string[], number: number): boolean {
    for (const file of gone) {
      const isOwn = this.#created.has(file) && !this.#committed.has(file);
      for (const files of [this.#created, this.#afterCommit]) files.delete(file);
      if (!this.#committed.has(file)) this.#files.delete(file);
      this.#edits.delete(file);
      const changedBy = this.#sources.get(file);
      if (changedBy === undefined) continue;
      this.#sources.delete(file);
      if (isOwn) this.#removed = { file, number, from: changedBy };
      else this.#sources.set(file, number);
    }
    return gone.length > 0;
  }

  #isMovedAway(name: string): boolean {
    return this.#movedAway.get(barePath(name)) !== undefined;
  }

  /** Takes files back of commits that are gone, or reverted. Returns those that no other commit has. */
  #uncommit(files: readonly string[]): readonly string[] {
    const gone = files.filter((file) => !this.#commits.some((commit) => commit.files.has(file)));
    for (const file of gone) this.#committed.delete(file);
    return gone;
  }

  #revert(subject: string, result: string, number: number): void {
    const commit = this.#commits.findLast((one) => one.subject === subject);
    const reverted = [...(commit?.files ?? [])];
    commit?.files.clear();
    const names = Array.from(result.matchAll(DELETED), ([, name = '']) => name);
    const deleted = this.#filesAt(names, this.#created);
    for (const { files } of this.#commits) for (const file of deleted) files.delete(file);
    this.#forget(
      [...this.#uncommit(reverted).filter((file) => !this.#afterCommit.has(file)), ...this.#uncommit(deleted)],
      number,
    );
  }

  #move([from = '', to = '']: readonly string[], number: number): void {
    this.#movedAway.set(barePath(from), true);
    const isNew = this.#filesAt([from], this.#created).length > 0;
    const known = this.#filesAt([from], this.#files);
    for (const file of known) {
      for (const files of [this.#created, this.#files, this.#afterCommit]) files.delete(file);
      this.#edits.delete(file);
      this.#sources.delete(file);
    }
    if (!FILE.test(to)) return;
    const inFolder = known.flatMap((file) => file.split(`${barePath(from)}/`).slice(1, 2));
    // The files of a moved folder that the run changed have their new names.
    for (const rest of inFolder) this.#rewriteFile(`${to}/${rest}`, number, isNew);
    if (inFolder.length === 0 && (EXTENSION.test(to) || known.length > 0)) this.#rewriteFile(to, number, isNew);
  }

  /** Returns the words of the command that it settles. */
  #readCommand(line: string, result: string, number: number): readonly string[] {
    const command = withoutDocuments(line);
    if (REWRITES.test(command)) this.#rewrites = true;
    const [undone, steps = '', carets = ''] = UNDOES.exec(command) ?? [];
    const taken = undone === undefined ? 0 : Math.max(carets.length, Number(steps || 1));
    const undoneCommits = this.#commits.splice(Math.max(0, this.#commits.length - taken));
    for (const { subject } of undoneCommits) this.#subjects.delete(subject);
    const undoneFiles = this.#uncommit(undoneCommits.flatMap(({ files }) => Array.from(files)));
    if (/\s--hard\b/.test(undone ?? '')) this.#forget(undoneFiles, number);
    else for (const file of undoneFiles) addPath(this.#afterCommit, file);
    // A later call shows the commits of a command in the background.
    const commits =
      (COMMIT.test(command) && COMMIT.test(command.replaceAll(SEARCHED, '')) && !MAKES_SCRATCH.test(command)) ||
      (STACKS.test(command) && FILES_CHANGED.test(result));
    const isLater = commits && backgroundIdIn(result) !== undefined && commitsIn(result).length === 0;
    const isCommit = (commits && !isLater) || (PICKS.test(command) && commitsIn(result).length > 0);
    if (isLater) this.#committing = line;
    const made = isCommit ? commitsIn(result) : [];
    if (made.length > 0 || (isCommit && !NOT_COMMITTED.test(result))) {
      const files = new Set(commits ? [...this.#afterCommit].filter((file) => this.#files.has(file)) : []);
      for (const file of files) this.#committed.add(file);
      if (commits) this.#afterCommit.clear();
      // An amended commit replaces the last one, which the run may have made.
      const amending = command.match(AMENDS)?.length ?? 0;
      const isFirst = this.#commits.length === 0 && !REWRITES.test(command);
      let left = Math.max(commitCommands(command) - amending, isFirst ? 1 : 0);
      if (left === 0) for (const file of files) this.#commits.at(-1)?.files.add(file);
      // `--quiet` prints nothing.
      for (; made.length === 0 && left > 0; left -= 1)
        this.#addCommit(command, { branch: undefined, subject: '', files, isFixup: false });
      const earlier = new Set(this.#subjects);
      for (const [, branch, title = '', date] of made) {
        // A part of the result would keep all of it in memory.
        const subject = hashText(title);
        const [, reverted] = REVERTED.exec(title) ?? [];
        if (reverted !== undefined) this.#revert(hashText(reverted), result, number);
        const isSeen = earlier.has(subject);
        // A rebase makes commits on no branch, with the date of their author.
        const isMadeAgain =
          branch === NO_BRANCH
            ? isSeen || date !== undefined
            : isSeen && this.#rewrites && !this.#isOfOtherBranch(subject, branch);
        if (this.#subjects.size < MAX_SUBJECTS) this.#subjects.add(subject);
        // Beside an amended commit, which has the date of its author, a new one may stand.
        if (amending > 0 && (left === 0 || (date !== undefined && !isFirst))) continue;
        if (!isMadeAgain) this.#addCommit(command, { branch, subject, files, isFixup: FIXUP.test(title) });
        left -= 1;
      }
    }
    // Before its first commit it rewrites those of others.
    if (REWRITES_HISTORY.test(command) && this.#commits.length > 0) this.#rewroteHistory = true;
    if (SQUASHES.test(command)) this.#commits = this.#commits.filter(({ isFixup }) => !isFixup);
    if (CONTINUED.test(result)) this.#afterCommit.clear();
    this.#branch = NEW_BRANCH.exec(command)?.[1] ?? this.#branch;
    const asked = command.match(PULL_REQUEST)?.length ?? 0;
    for (const address of result.match(PULL_ADDRESS)?.slice(0, asked) ?? [])
      if (this.#pullRequests.size < MAX_PULL_REQUESTS) this.#pullRequests.add(address);
    // A script that also reads changes a file that exists.
    for (const file of filesWrittenIn(line))
      if (FILE.test(file)) this.#rewriteFile(placeOf(line, file), number, !/read/i.test(line));
    return this.#applyChanges(command, shellChangesOf(command), number);
  }

  /** Returns true if the run made this commit on a branch of another name: the same once more is another commit. */
  #isOfOtherBranch(subject: string, branch: string | undefined): boolean {
    const made = this.#commits.findLast((commit) => commit.subject === subject)?.branch;
    return made !== undefined && made !== branch;
  }

  /** Adds a file that was changed in another way than by an edit, which no edit puts back. */
  #rewriteFile(file: string, number: number, isNew: boolean): void {
    this.#edits.delete(file);
    this.#movedAway.delete(barePath(file));
    this.#addFile(file, number, isNew);
  }

  #addCommit(command: string, { branch, files, isFixup, subject }: Omit<Commit, 'withoutHooks'>): void {
    const withoutHooks = NO_HOOKS.test(command.replaceAll(QUOTED, "''"));
    const named = branch === NO_BRANCH ? undefined : branch;
    this.#branch = named ?? this.#branch;
    if (this.#commits.length >= MAX_COMMITS) return;
    const known = this.#commits.findLast((commit) => commit.branch === named)?.branch ?? named;
    this.#commits.push({ subject, branch: known, files: new Set(files), withoutHooks, isFixup });
  }

  #addFile(named: string, number: number, isNew: boolean): void {
    const file = plainPath(named).replace(/^(?:\.\/)+/, '');
    if (isNew && !this.#files.has(file) && this.#created.size < MAX_FILES) this.#created.add(file);
    if (OWN_NOTE.test(file)) return;
    addPath(this.#files, file);
    if (TEMPORARY.test(file)) return;
    addPath(this.#afterCommit, file);
    if (!NO_SOURCE.test(file)) this.#sources.set(file, number);
    else this.#lastText = { file, number, taskFrom: this.#taskFrom };
  }

  get #lastChange(): LastChange | undefined {
    const last = this.#sources.entries().at(-1);
    return last === undefined ? undefined : { file: last[0], number: last[1] };
  }

  /** The last changes of a source file and of a text, and the last removal of a file that it had created. */
  get changes(): readonly LastChange[] {
    return [this.#lastChange, this.#removed, this.#lastText].filter((change) => change !== undefined);
  }

  /** The first message of the user that asks for something. */
  get firstRequest(): string | undefined {
    return this.#first.text;
  }

  get files(): ReadonlySet<string> {
    return this.#files;
  }

  get work(): RunWork {
    const files = [...this.#files].toSorted((a, b) => Number(TEMPORARY.test(a)) - Number(TEMPORARY.test(b)));
    const withoutHooks = this.#commits.filter((commit) => commit.withoutHooks).length;
    const commitsOn = new Map<string, number>();
    for (const { branch } of this.#commits)
      if (branch !== undefined) commitsOn.set(branch, (commitsOn.get(branch) ?? 0) + 1);
    return {
      filesChanged: files,
      uncommitted: this.#afterCommit.size,
      commits: this.#commits.length,
      ...present({
        commitsWithoutHooks: withoutHooks || undefined,
        commitsOn: commitsOn.size === 0 ? undefined : Object.fromEntries(commitsOn),
        delegated: this.#delegated || undefined,
        rewroteHistory: this.#rewroteHistory || undefined,
        pullRequests: this.#pullRequests.size === 0 ? undefined : [...this.#pullRequests].reverse(),
        declined: this.#declined || undefined,
        lastChange: this.#lastChange,
        branch: this.#branch,
        plan: this.#plan,
        name: this.#name,
      }),
      ...this.#words.words,
    };
  }
}

function namesFile(tool: string, args: Json, target: string): boolean {
  return !FOLDER_TOOL.test(tool) && !(isJsonObject(args) && PLACES.some((place) => args[place] === target));
}

/** The words of a shell command are files only if they look like files. */
function isFileIn(command: string, target: string): boolean {
  if (!FILE.test(target)) return false;
  return EXTENSION.test(target) || BEFORE_FILE.test(command.slice(0, command.indexOf(target)));
}

/** Adds a path unless the set has it, or a file in it. A relative path and an absolute one that ends with it are one file, of which the first name stays. */
function addPath(files: Set<string>, file: string): void {
  if (files.has(file)) return;
  for (const one of files) {
    if (one.startsWith(`${file}/`)) return;
    if (file.startsWith(`${one}/`)) files.delete(one);
  }
  if (files.size >= MAX_FILES) return;
  const isSame = (one: string): boolean =>
    one.startsWith('/') === file.startsWith('/') ? false : one.endsWith(`/${file}`) || file.endsWith(`/${one}`);
  if (![...files].some(isSame)) files.add(file);
}

function isMovedTo(name: string, changes: readonly ShellChange[]): boolean {
  return changes.some(({ files, kind }) => kind === 'moved' && barePath(files[1] ?? '') === barePath(name));
}

function isRemoved(name: string, changes: readonly ShellChange[]): boolean {
  return changes.some(
    ({ files, kind }) => kind === 'removed' && files.some((file) => barePath(file) === barePath(name)),
  );
}

/** A path of Windows is written with slashes. */
function plainPath(name: string): string {
  return /^[A-Za-z]:\\/.test(name) ? name.replaceAll('\\', '/') : name;
}

/** A path without `./` before it and `/` after it. */
function barePath(name: string): string {
  return name.replace(/^\.\/|\/$/g, '');
}

/** Returns true for the same path, from wherever it is named, and for one in a folder. */
function isInPath(file: string, name: string): boolean {
  const path = barePath(name);
  const isFolderOf = file.startsWith(`${path}/`) || (path.includes('/') && file.includes(`/${path}/`));
  return file === path || isFolderOf || file.endsWith(`/${path}`) || path.endsWith(`/${file}`);
}
