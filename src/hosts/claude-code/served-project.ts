import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { systemClock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/error.ts';
import { isProjectStore } from '../../core/node/project-store.ts';
import { stateFile } from '../../core/node/state-places.ts';
import { factsOf, findProject, userFolders } from '../config/find-config.ts';
import { loadConfigSync } from '../config/load-config.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import type { ResolvedStore } from '../config/resolved-config.ts';
import { notifySink, type NotifySink } from '../notify/notify-sink.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { RunMemory } from '../../core/run/run-memory.ts';
import { collectGarbage } from '../../stores/collect-garbage.ts';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import type { TraceTarget } from '../otlp/record-trace.ts';
import type { ClaudeSessions } from './claude-sessions.ts';
import type { ClaudeState } from './claude-state.ts';
import { EventIntake, type FoldedEvents } from './event-intake.ts';
import { MAX_CONFIG_FAULTS, type HookFault } from '../../core/node/fault-log.ts';
import { isKnownEvent, type HookEvent } from './hook-event.ts';
import { projectRedaction, projectSessions } from './project-sessions.ts';

export interface ServedProjectOptions {
  readonly projectFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Called for every fault.
   *
   * @param unlessKnown  skips a repeated message; used for faults that recur with every event
   */
  readonly onFault: (fault: HookFault, unlessKnown?: boolean) => void;
  /** Maximum number of runs in memory; default 64. A run of 250 calls takes 112 KB. */
  readonly maxRuns?: number;
}

const DEFAULT_MAX_RUNS = 64;
/** Time limit for waiting for the store, as in a hook process. */
const STORE_TIMEOUT_MS = 2_000;

interface OpenSessions {
  readonly store: TrajectoryStore;
  readonly sessions: ClaudeSessions;
}

/** A loaded configuration and the store opened for it. */
interface OpenProject {
  /** Identifies the content of the configuration files. A new value means that they changed. */
  key: string;
  /** Rejects if the store cannot be opened. The next event then tries again. */
  readonly openSessions: Promise<OpenSessions>;
  readonly intake: EventIntake;
  readonly memory: RunMemory<ClaudeState>;
  readonly redact: TraceTarget['redact'];
  readonly notifications: NotifySink | undefined;
  /** True if old runs may be deleted to limit the size of the store. */
  readonly isTrimmed: boolean;
  /** Number of events in progress. */
  pending: number;
  /** True if this configuration was replaced, or if the project is closed. */
  isRetired: boolean;
}

/**
 * Processes the events of one project like a hook process does, but keeps the store open and the runs in memory. Hook
 * processes may handle other events at the same time. Their records are applied to the runs in memory first.
 *
 * If the configuration changes, or the store is moved or replaced, the change applies from the next event on. The code of
 * `coxswain.config.ts` is loaded only once.
 */
export class ServedProject {
  readonly #options: ServedProjectOptions;
  readonly #closing = new Set<Promise<void>>();
  #project: OpenProject | undefined;

  constructor(options: ServedProjectOptions) {
    this.#options = options;
  }

  get runs(): number {
    return this.#project?.memory.size ?? 0;
  }

  /**
   * Records and answers an event. If the store does not accept it, the event is spilled to a file.
   *
   * @throws CoxswainError as `EventIntake.take` and `loadConfigSync`
   */
  async answer(event: HookEvent): Promise<object> {
    const { onFault } = this.#options;
    const { about } = event;
    if (!isKnownEvent(event)) {
      onFault({ where: 'input', message: 'the event is unknown or lacks a required member', ...about });
      return {};
    }
    const project = this.#currentProject();
    return this.#withProject(project, async () => {
      const { answer, faults } = await project.intake.take(event, async () => (await project.openSessions).sessions);
      for (const message of faults) onFault({ where: 'run', message, ...about });
      return answer;
    });
  }

  /**
   * Records the waiting events of all sessions.
   *
   * @throws CoxswainError as `store.transact`, or if the store cannot be opened
   */
  async foldWaiting(limitMs: number): Promise<FoldedEvents> {
    const project = this.#currentProject();
    return this.#withProject(project, async () =>
      project.intake.foldWaiting((await project.openSessions).sessions, { limitMs }),
    );
  }

  /** Calls `work` with the open store. Rejects if `work` rejects, or if the store cannot be opened. */
  async withTarget<Result>(work: (target: TraceTarget) => Promise<Result>): Promise<Result> {
    const project = this.#currentProject();
    return this.#withProject(project, async () =>
      work({ store: (await project.openSessions).store, redact: project.redact }),
    );
  }

  async #withProject<Result>(project: OpenProject, work: () => Promise<Result>): Promise<Result> {
    project.pending += 1;
    try {
      return await work();
    } finally {
      project.pending -= 1;
      this.#closeIfUnused(project);
    }
  }

  /**
   * Deletes a few runs at a time until the store is within its size limit. Applies only to a store in its default location,
   * because any other store may be an archive. Errors are reported as faults.
   */
  async collectGarbage(): Promise<void> {
    try {
      const project = this.#currentProject();
      if (!project.isTrimmed) return;
      const { failed } = await this.#withProject(project, async () =>
        collectGarbage((await project.openSessions).store),
      );
      for (const { runId, error } of failed) {
        this.#options.onFault({ where: 'gc', message: `run ${runId}: ${error.message}` });
      }
    } catch (error) {
      this.#options.onFault({ where: 'gc', message: messageOf(error) });
    }
  }

  /** Closes the store once the events in progress have ended. */
  async close(): Promise<void> {
    const project = this.#project;
    this.#project = undefined;
    if (project !== undefined) {
      project.isRetired = true;
      this.#closeIfUnused(project);
      while (project.pending > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(this.#closing);
  }

  #currentProject(): OpenProject {
    const previous = this.#project;
    if (previous !== undefined && previous.key === this.#currentKey(previous.key)) return previous;
    const { projectFolder, env, onFault } = this.#options;
    const { resolved, problems } = loadConfigSync({ projectFolder, env });
    for (const problem of problems.slice(0, MAX_CONFIG_FAULTS)) {
      onFault({ where: 'config', message: JSON.stringify(problem) }, true);
    }
    const { store: place } = resolved;
    const redact = projectRedaction(resolved, onFault);
    const memory = new RunMemory<ClaudeState>(this.#options.maxRuns ?? DEFAULT_MAX_RUNS);
    const notifications = this.#notificationsOf(resolved.notify);
    const onStored = (records: readonly TrajectoryRecord[]): void =>
      records.forEach((record) => notifications?.record(record));
    const openSessions = this.#openStore(place).then((store) => ({
      store,
      sessions: projectSessions(resolved, { store, projectFolder, memory, redact, onStored }),
    }));
    const project: OpenProject = {
      key: '',
      openSessions,
      intake: new EventIntake({ storeAddress: place.address, redact, clock: systemClock, onFault }),
      memory,
      redact,
      notifications,
      isTrimmed: isProjectStore(place.address, { env }),
      pending: 0,
      isRetired: false,
    };
    project.key = keyOf(this.#configFiles(), place.address);
    openSessions.catch(() => (project.key = ''));
    this.#project = project;
    if (previous !== undefined) {
      previous.isRetired = true;
      this.#closeIfUnused(previous);
    }
    return project;
  }

  /** The current key of the configuration files. The last line of the key is the address of the store. */
  #currentKey(previousKey: string): string {
    return keyOf(this.#configFiles(), previousKey.slice(previousKey.lastIndexOf('\n') + 1));
  }

  #configFiles(): readonly string[] {
    const { projectFolder, env } = this.#options;
    const { config } = userFolders({ env });
    const userFiles = ['config.json', 'config.ts'].map((name) => join(config, name));
    const { folder, files } = findProject(projectFolder);
    return [...userFiles, stateFile('trust', { env, projectFolder: folder }), ...files];
  }

  /** The notifications from the user's configuration. A notification that cannot be sent is reported as a fault. */
  #notificationsOf(notify: NotifySection | undefined): NotifySink | undefined {
    if (notify === undefined) return undefined;
    const onFailure = (message: string): void => this.#options.onFault({ where: 'notify', message });
    try {
      return notifySink({ ...notify, onFailure });
    } catch (error) {
      onFailure(messageOf(error));
      return undefined;
    }
  }

  /** Opens or creates the file before the first await, so that `keyOf` finds it. */
  async #openStore({ address, kind }: ResolvedStore): Promise<TrajectoryStore> {
    if (kind === 'sqlite') return sqliteStore(address, { timeoutMs: STORE_TIMEOUT_MS });
    const { openStore } = await import('../../stores/registry/open-store.ts');
    return openStore(address, { waitMs: STORE_TIMEOUT_MS });
  }

  #closeIfUnused(project: OpenProject): void {
    if (!project.isRetired || project.pending > 0) return;
    const storeClosing = project.openSessions.then(
      ({ store }) =>
        store.close().catch((error: unknown) => {
          this.#options.onFault({ where: 'store', message: messageOf(error) });
        }),
      () => undefined,
    );
    const closing = Promise.all([storeClosing, project.notifications?.finish()]).then(() => undefined);
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

/** Returns a key that changes if one of the files changes or the store is replaced. It does not change when the store grows. */
function keyOf(files: readonly string[], storeAddress: string): string {
  const fileKeys = files.map((file) => {
    const fileFacts = factsOf(file);
    return fileFacts === undefined ? file : `${file} ${fileFacts.ino} ${fileFacts.size} ${fileFacts.mtimeMs}`;
  });
  const storeKey = existsSync(storeAddress) ? String(factsOf(storeAddress)?.ino) : 'gone';
  return [...fileKeys, storeKey, storeAddress].join('\n');
}
