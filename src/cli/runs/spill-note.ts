import { countSpills, spillFolderOf } from '../../hosts/claude-code/spilled-events.ts';
import { countOf } from '../../base/number-text.ts';
import { shownStore } from './open-store.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** What lies in the spill files beside a store: hook events that are not among its records. */
export interface SpillNote {
  /** Undefined if no event waits to be folded. */
  readonly waiting?: string;
  /** Undefined if there is no file that can never be folded. */
  readonly unusable?: string;
}

/** One line each, for commands that only read. Cost: one look at the folder. */
export function spillNote(storeAddress: string): SpillNote {
  const { damaged, refused, waiting } = countSpills(storeAddress);
  const folder = spillFolderOf(storeAddress);
  const events = `${countOf(waiting, 'event')} ${waiting === 1 ? 'waits' : 'wait'} in spill files (${folder})`;
  const unusable = `${folder} holds ${countOf(damaged, 'damaged file')} and ${countOf(refused, 'refused event')}`;
  return {
    ...(waiting > 0 && {
      waiting: `${events}: the next hook folds them, or run: coxswain recover ${shellWord(shownStore(storeAddress))}`,
    }),
    ...(damaged + refused > 0 && { unusable }),
  };
}
