import { useCallback, useEffect, useState } from 'react';

import type { ConversationHandle } from './conversation.tsx';
import type { RecordPages } from './record-pages.ts';

/** Whether the page follows the end of a growing run, and how many records have arrived since it stopped following. */
export interface Following {
  readonly isFollowing: boolean;
  /** The highest `seq` in the list. */
  readonly shownLast: number;
  readonly waiting: number;
  readonly toggle: () => void;
  readonly pause: () => void;
  readonly onAtEnd: (isAtEnd: boolean) => void;
}

/**
 * @param props.isLive   if true, the page starts at the end
 * @param props.lastSeq  the highest `seq` rendered, which may be a frame older than that of `pages`
 */
export function useFollowing(props: {
  readonly isLive: boolean;
  readonly lastSeq: number;
  readonly pages: RecordPages;
  readonly handle: { readonly current: ConversationHandle | undefined };
}): Following {
  const { lastSeq, pages, handle } = props;
  const [isFollowing, setFollowing] = useState(props.isLive);
  const [heldSeq, setHeldSeq] = useState(lastSeq);
  const shownLast = isFollowing ? lastSeq : Math.min(heldSeq, lastSeq);
  const pause = useCallback(() => {
    if (!isFollowing) return;
    // A result appears in the row of its call, so it does not count as a new row.
    setHeldSeq(pages.lastSeq);
    setFollowing(false);
  }, [isFollowing, pages]);
  const follow = useCallback(() => {
    setFollowing(true);
    handle.current?.showEnd();
  }, [handle]);
  useEffect(() => {
    if (isFollowing) handle.current?.showEnd();
  }, [isFollowing, lastSeq, handle]);
  const onAtEnd = useCallback((isAtEnd: boolean) => (isAtEnd ? undefined : pause()), [pause]);
  return {
    isFollowing,
    shownLast,
    waiting: lastSeq - shownLast,
    toggle: isFollowing ? pause : follow,
    pause,
    onAtEnd,
  };
}
