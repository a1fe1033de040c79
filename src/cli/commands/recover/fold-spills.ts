import { systemClock } from '../../../base/clock.ts';
import { EventIntake } from '../../../hosts/claude-code/event-intake.ts';

import { projectRedaction, projectSessions } from '../../../hosts/claude-code/project-sessions.ts';
import { countSpills } from '../../../hosts/claude-code/spilled-events.ts';

import { countOf } from '../../../base/number-text.ts';
import { openStoreNamed, requireStore, shownStore } from '../../runs/open-store.ts';
import { loadProject } from '../../runs/project-store.ts';
import { jsonLine } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/**
 * `coxswain recover STORE` without `--to`: folds the hook events that wait in spill files next to the store, with the configuration of
 * the project of the working folder.
 *
 * @returns the exit code: 1 if an event still waits, is damaged or was refused
 * @throws CoxswainError `input-io` without a store and without events, and as the store
 */
export async function foldSpills(
  address: string,
  { json }: { readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  // Waiting events may be the first of a new store.
  if (countSpills(address).waiting === 0) await requireStore(address);
  const { loaded, projectFolder } = loadProject();
  const { resolved } = loaded;
  const problems = new Problems(terminal);
  problems.source(shownStore(address));
  const onFault = ({ message }: { readonly message: string }): void => problems.fault({ message });
  const redact = projectRedaction(resolved, onFault);
  const store = await openStoreNamed(address);
  try {
    const sessions = projectSessions(resolved, { store, projectFolder, redact });
    const intake = new EventIntake({ storeAddress: address, redact, clock: systemClock, onFault });
    const { folded, problem } = await intake.foldWaiting(sessions, { limitMs: Infinity });
    if (problem !== undefined) problems.fault({ message: problem });
    problems.endSource();
    const { waiting } = countSpills(address);
    const text = `${shownStore(address)}: ${countOf(folded, 'event')} folded from spill files, ${waiting} left\n`;
    await terminal.write(json === true ? jsonLine({ folded, waiting }) : text);
    return problems.any || waiting > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}
