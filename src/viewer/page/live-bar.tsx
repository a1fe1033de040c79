import type { ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import type { Following } from './use-following.ts';

/** A bar at the end of a live run's conversation. It shows whether the page follows the run, and the number of new records. */
export function LiveBar(props: { readonly isOpen: boolean; readonly following: Following }): ReactElement | null {
  const { isFollowing, waiting, toggle } = props.following;
  if (!props.isOpen && waiting === 0) return null;
  return (
    <div className="live-bar">
      <button type="button" className={isFollowing ? '' : 'primary'} onClick={toggle} aria-live="polite">
        {isFollowing ? 'Following · pause' : `Paused · ${countText(waiting)} new · follow`} <kbd>f</kbd>
      </button>
    </div>
  );
}
