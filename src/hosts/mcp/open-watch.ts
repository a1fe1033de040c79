import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { loadConfigSync } from '../config/load-config.ts';
import { notifySink } from '../notify/notify-sink.ts';
import { createCoxswain } from '../../core/run/coxswain.ts';
import { openStore } from '../../stores/registry/open-store.ts';
import { logFault, MAX_CONFIG_FAULTS } from '../../core/node/fault-log.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';
import { McpWatch } from './mcp-watch.ts';

/** A watch, and a function that releases its resources. */
export interface OpenWatch {
  readonly watch: McpWatch;
  /** Ends the run and stores pending records. Takes at most two seconds. Never throws. */
  close(outcome: string): Promise<void>;
}

const CLOSING_MS = 2_000;
const STORE_WAIT_MS = 2_000;

/**
 * Creates the watch of a proxy from the configuration of the current project. Errors go to the fault log that `coxswain
 * doctor` shows.
 *
 * @returns undefined if nothing can be recorded; messages then pass unwatched
 */
export async function openWatch(env: NodeJS.ProcessEnv): Promise<OpenWatch | undefined> {
  if (env['COXSWAIN_DISABLE'] === '1') return undefined;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  let lastMessage: string | undefined;
  const onFault = (error: unknown): undefined => {
    const message = messageOf(error);
    // Log a repeated error only once.
    if (message !== lastMessage) logFault({ where: 'mcp', message }, { env, projectFolder, nowMs: Date.now() }, true);
    lastMessage = message;
    return undefined;
  };
  try {
    const { resolved, problems } = loadConfigSync({ projectFolder, env });
    for (const problem of problems.slice(0, MAX_CONFIG_FAULTS)) onFault(JSON.stringify(problem));
    // Without a store nothing is recorded, and the agent still gets advice.
    const store = await openStore(resolved.store.address, { waitMs: STORE_WAIT_MS }).catch(onFault);
    const { steering, redaction, deadline, budget, notify } = resolved;
    const cox = createCoxswain({ ...steering, redaction, ...(store !== undefined && { store }) });
    const notifications = notify === undefined ? undefined : notifySink({ ...notify, onFailure: onFault });
    if (notifications !== undefined) cox.listen(notifications);
    const watch = new McpWatch({ cox, run: present({ deadline, budget }), onFault });
    return {
      watch,
      close: async (outcome) => {
        watch.end(outcome);
        await cox.close({ timeLimitMs: CLOSING_MS }).catch((error: unknown) => {
          // The recorder has logged its losses.
          if (!isLoss(error)) onFault(error);
        });
        await notifications?.finish();
      },
    };
  } catch (error) {
    onFault(error);
    return undefined;
  }
}

function isLoss(error: unknown): boolean {
  return error instanceof CoxswainError && (error.code === 'trajectory-io' || error.code === 'trajectory-rejected');
}
