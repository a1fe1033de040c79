import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error.ts';
import { stateFile } from '../../base/state-places.ts';
import { factsOf, findProject, userFolders } from '../../config/find-config.ts';
import { loadConfigSync } from '../../config/load-config.ts';
import type { NotifySection } from '../../config/coxswain-config.ts';
import type { ResolvedStore } from '../../config/resolved-config.ts';
import { notifySink, type NotifySink } from '../../notify/notify-sink.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { RunMemory } from '../../run/run-memory.ts';
import { RECORDS_FOLDER } from '../../store/records-folder.ts';
import { collectGarbage } from '../../store/collect-garbage.ts';
import { sqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../../store/trajectory-store.ts';
import type { TraceTarget } from '../otlp/record-trace.ts';
import type { ClaudeSessions } from './claude-sessions.ts';
import type { ClaudeState } from './claude-state.ts';
import { EventIntake, type FoldedEvents } from './event-intake.ts';
import { MAX_CONFIG_FAULTS, type HookFault } from './fault-log.ts';
import { isKnownEvent, type HookEvent } from './hook-event.ts';
import { isDefaultPlace, usableStore } from './open-hook-store.ts';
import { projectRedaction, projectSessions } from './project-sessions.ts';

/** What a resident process takes the events of a project with. */
export interface ServedProjectOptions {
  readonly projectFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** @param unlessKnown  for what is wrong at every event */
  readonly onFault: (fault: HookFault, unlessKnown?: boolean) => void;
  /** Runs that stay in memory; default 64, of which one of 250 calls takes 112 KB. */
  readonly maxRuns?: number;
  /** How long the store is waited for; default 2 seconds, as in the hook's own process. */
  readonly storeTimeoutMs?: number;
}

const DEFAULT_MAX_RUNS = 64;
const DEFAULT_STORE_TIMEOUT_MS = 2_000;

/** What events are taken with once the store is open. */
interface Ready {
  readonly store: TrajectoryStore;
  readonly sessions: ClaudeSessions;
}

/** A configuration in force, and what was opened for it. */
interface Opened {
  /** What the files looked like that it was made from. */
  key: string;
  /** Rejects with what opening the store threw; the next event tries again then. */
  readonly ready: Promise<Ready>;
  readonly intake: EventIntake;
  readonly memory: RunMemory<ClaudeState>;
  readonly redact: TraceTarget['redact'];
  /** Who is notified; undefined: nobody. */
  readonly people: NotifySink | undefined;
  /** Old runs may go for size. */
  readonly isTrimmed: boolean;
  /** Events that are being taken. */
  pending: number;
  /** Another one is in force, or nobody needs any. */
  isOver: boolean;
}

/**
 * The events of one project in one process: as a hook process takes each, with the store open and runs in memory. Hook
 * processes may take some of them meanwhile: what they stored is taken in first.
 *
 * A configuration that changes, and a store that is moved or replaced, count from the next event on; code of
 * `coxswain.config.ts` is loaded once.
 */
export class ServedProject {
  readonly #options: ServedProjectOptions;
  readonly #closing = new Set<Promise<void>>();
  #opened: Opened | undefined;

  constructor(options: ServedProjectOptions) {
    this.#options = options;
  }

  /** Runs in memory. */
  get runs(): number {
    return this.#opened?.memory.size ?? 0;
  }

  /**
   * Takes an event in and answers it. What the store does not take waits in a file beside it, and is folded before the next event of the session.
   *
   * @throws CoxswainError as `EventIntake.take`, and what loading the configuration throws
   */
  async answer(event: HookEvent): Promise<object> {
    const { onFault } = this.#options;
    const { about } = event;
    if (!isKnownEvent(event)) {
      onFault({ where: 'input', message: 'the event is not known, or lacks what it must have', ...about });
      return {};
    }
    const opened = this.#current();
    return this.#using(opened, async () => {
      const { answer, faults } = await opened.intake.take(event, async () => (await opened.ready).sessions);
      for (const message of faults) onFault({ where: 'run', message, ...about });
      return answer;
    });
  }

  /**
   * Folds the events that wait beside the store, of all sessions.
   *
   * @throws CoxswainError as `store.transact`, and where the store cannot be opened
   */
  async foldWaiting(limitMs: number): Promise<FoldedEvents> {
    const opened = this.#current();
    return this.#using(opened, async () => opened.intake.foldWaiting((await opened.ready).sessions, { limitMs }));
  }

  /** Lets runs from elsewhere into the store. Rejects as `work`, and where the store cannot be opened. */
  async withTarget<Result>(work: (target: TraceTarget) => Promise<Result>): Promise<Result> {
    const opened = this.#current();
    return this.#using(opened, async () => work({ store: (await opened.ready).store, redact: opened.redact }));
  }

  async #using<Result>(opened: Opened, work: () => Promise<Result>): Promise<Result> {
    opened.pending += 1;
    try {
      return await work();
    } finally {
      opened.pending -= 1;
      this.#letGo(opened);
    }
  }

  /**
   * Deletes runs until the store is within its limit, a few at a time; not from one that the configuration has put elsewhere,
   * where somebody may keep more. A fault is told of.
   */
  async collectGarbage(): Promise<void> {
    try {
      const opened = this.#current();
      if (!opened.isTrimmed) return;
      const { failed } = await this.#using(opened, async () => collectGarbage((await opened.ready).store));
      for (const { runId, error } of failed) {
        this.#options.onFault({ where: 'gc', message: `run ${runId}: ${error.message}` });
      }
    } catch (error) {
      this.#options.onFault({ where: 'gc', message: messageOf(error) });
    }
  }

  /** Closes the store once the events that are being taken are done. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened !== undefined) {
      opened.isOver = true;
      this.#letGo(opened);
      while (opened.pending > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(this.#closing);
  }

  #current(): Opened {
    const before = this.#opened;
    if (before !== undefined && before.key === this.#key(before.key)) return before;
    const { projectFolder, env, onFault } = this.#options;
    const { resolved, problems } = loadConfigSync({ projectFolder, env });
    for (const problem of problems.slice(0, MAX_CONFIG_FAULTS)) {
      onFault({ where: 'config', message: JSON.stringify(problem) }, true);
    }
    const { place } = usableStore(resolved.store, { env });
    const redact = projectRedaction(resolved, onFault);
    const memory = new RunMemory<ClaudeState>(this.#options.maxRuns ?? DEFAULT_MAX_RUNS);
    const people = this.#peopleOf(resolved.notify);
    const onStored = (records: readonly TrajectoryRecord[]): void =>
      records.forEach((record) => people?.record(record));
    const ready = this.#openStore(place).then((store) => ({
      store,
      sessions: projectSessions(resolved, { store, projectFolder, memory, redact, onStored }),
    }));
    const opened: Opened = {
      key: '',
      ready,
      intake: new EventIntake({ storeAddress: place.address, redact, clock: systemClock, onFault }),
      memory,
      redact,
      people,
      isTrimmed: isDefaultPlace(place, { env }),
      pending: 0,
      isOver: false,
    };
    opened.key = keyOf(this.#configFiles(), place.address);
    ready.catch(() => (opened.key = ''));
    this.#opened = opened;
    if (before !== undefined) {
      before.isOver = true;
      this.#letGo(before);
    }
    return opened;
  }

  /** What the files look like now that a configuration was made from: the store's address is the key's last line. */
  #key(before: string): string {
    return keyOf(this.#configFiles(), before.slice(before.lastIndexOf('\n') + 1));
  }

  #configFiles(): readonly string[] {
    const { projectFolder, env } = this.#options;
    const { config } = userFolders({ env });
    const users = ['config.json', 'config.ts'].map((name) => join(config, name));
    const { folder, files } = findProject(projectFolder);
    // A folder of records that is accepted gets a new mark.
    const mark = join(folder, RECORDS_FOLDER, '.gitignore');
    return [...users, stateFile('trust', { env, projectFolder: folder }), mark, ...files];
  }

  /** Whom the user's own configuration names. What cannot be sent is a fault, and costs no event. */
  #peopleOf(notify: NotifySection | undefined): NotifySink | undefined {
    if (notify === undefined) return undefined;
    const onFailure = (message: string): void => this.#options.onFault({ where: 'notify', message });
    try {
      return notifySink({ ...notify, onFailure });
    } catch (error) {
      onFailure(messageOf(error));
      return undefined;
    }
  }

  /** A file is opened, and made, before anything is awaited: it is there for `keyOf`. */
  async #openStore({ address, kind }: ResolvedStore): Promise<TrajectoryStore> {
    const { storeTimeoutMs = DEFAULT_STORE_TIMEOUT_MS } = this.#options;
    if (kind === 'sqlite') return sqliteStore(address, { timeoutMs: storeTimeoutMs });
    const { openPostgres } = await import('../../store/registry/open-postgres.ts');
    return openPostgres(address, { waitMs: storeTimeoutMs });
  }

  #letGo(opened: Opened): void {
    if (!opened.isOver || opened.pending > 0) return;
    const closed = opened.ready.then(
      ({ store }) =>
        store.close().catch((error: unknown) => {
          this.#options.onFault({ where: 'store', message: messageOf(error) });
        }),
      () => undefined,
    );
    const over = Promise.all([closed, opened.people?.finish()]).then(() => undefined);
    this.#closing.add(over);
    void over.finally(() => this.#closing.delete(over));
  }
}

/** Changes when one of the files does, or when there is another one where the store was; that the store grows is no change. */
function keyOf(files: readonly string[], storeAddress: string): string {
  const facts = files.map((file) => {
    const found = factsOf(file);
    return found === undefined ? file : `${file} ${found.ino} ${found.size} ${found.mtimeMs}`;
  });
  const store = existsSync(storeAddress) ? String(factsOf(storeAddress)?.ino) : 'gone';
  return [...facts, store, storeAddress].join('\n');
}
