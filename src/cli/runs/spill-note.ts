import { countSpills } from '../../hosts/claude-code/spilled-events.ts';
import { countOf } from '../../core/base/number-text.ts';
import { shownStore } from './open-store.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Messages about the spill files next to a store, which contain hook events that are not recorded yet. */
export interface SpillNote {
  /** Message about events that are waiting to be recorded. */
  readonly waiting?: string;
  /** Message about files that cannot be recorded. */
  readonly unusable?: string;
}

/** Returns the messages for a store. Cost: lists one folder. */
export function spillNote(storeAddress: string): SpillNote {
  const { damaged, folders, refused, waiting } = countSpills(storeAddress);
  const folder = folders.join(', ');
  const events = `${countOf(waiting, 'event')} ${waiting === 1 ? 'waits' : 'wait'} in spill files (${folder})`;
  const unusable = `${folder} holds ${countOf(damaged, 'damaged file')} and ${countOf(refused, 'refused event')}`;
  return {
    ...(waiting > 0 && {
      waiting: `${events}: the next hook records them, or run: coxswain recover ${shellWord(shownStore(storeAddress))}`,
    }),
    ...(damaged + refused > 0 && { unusable }),
  };
}
