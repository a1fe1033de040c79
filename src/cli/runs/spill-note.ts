import { countSpills, spillFolderOf } from '../../hosts/claude-code/spilled-events.ts';
import { countOf } from '../../base/number-text.ts';
import { shownStore } from './open-store.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Notes about the spill files next to a store: hook events that are not recorded yet. */
export interface SpillNote {
  /** Events that wait to be recorded. */
  readonly waiting?: string;
  /** Files that can never be recorded. */
  readonly unusable?: string;
}

/** The notes of a store. Cost: lists one folder. */
export function spillNote(storeAddress: string): SpillNote {
  const { damaged, refused, waiting } = countSpills(storeAddress);
  const folder = spillFolderOf(storeAddress);
  const events = `${countOf(waiting, 'event')} ${waiting === 1 ? 'waits' : 'wait'} in spill files (${folder})`;
  const unusable = `${folder} holds ${countOf(damaged, 'damaged file')} and ${countOf(refused, 'refused event')}`;
  return {
    ...(waiting > 0 && {
      waiting: `${events}: the next hook records them, or run: coxswain recover ${shellWord(shownStore(storeAddress))}`,
    }),
    ...(damaged + refused > 0 && { unusable }),
  };
}
