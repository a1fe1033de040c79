import { systemClock } from '../../../core/base/clock.ts';
import { EventIntake } from '../../../hosts/claude-code/event-intake.ts';

import { projectRedaction, projectSessions } from '../../../hosts/claude-code/project-sessions.ts';
import { countSpills } from '../../../hosts/claude-code/spilled-events.ts';

import { countOf } from '../../../core/base/number-text.ts';
import { openStoreNamed, requireStore, shownStore } from '../../runs/open-store.ts';
import { loadProject } from '../../runs/project-store.ts';
import { jsonLine } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/**
 * Runs `coxswain recover STORE` without `--to`: records the hook events in the spill files next to the store. Uses the
 * configuration of the project in the working folder.
 *
 * @returns the exit code: 1 if an event is still waiting, is damaged or was rejected
 * @throws CoxswainError `input-io` if neither the store nor waiting events exist, and the errors of the store
 */
export async function foldSpills(
  address: string,
  { json }: { readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  // The store may not exist yet: the waiting events may be its first ones.
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
    const text = `${shownStore(address)}: ${countOf(folded, 'waiting event')} added, ${waiting} left\n`;
    await terminal.write(json === true ? jsonLine({ folded, waiting }) : text);
    return problems.any || waiting > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}
