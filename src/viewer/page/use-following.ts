import { useCallback, useEffect, useRef, useState } from 'react';

import type { ConversationHandle } from './conversation.tsx';

/** Whether the page stays at the end of a growing run, and what came since it does not. */
export interface Following {
  readonly isFollowing: boolean;
  /** Highest `seq` in the list. */
  readonly shownLast: number;
  readonly waiting: number;
  readonly toggle: () => void;
  readonly pause: () => void;
  readonly onAtEnd: (isAtEnd: boolean) => void;
}

/** @param props.isLive  whether it starts at the end */
export function useFollowing(props: {
  readonly isLive: boolean;
  readonly lastSeq: number;
  readonly handle: { readonly current: ConversationHandle | undefined };
}): Following {
  const { lastSeq, handle } = props;
  const [isFollowing, setFollowing] = useState(props.isLive);
  const [held, setHeld] = useState(lastSeq);
  const shownLast = isFollowing ? lastSeq : Math.min(held, lastSeq);
  const latest = useRef(lastSeq);
  latest.current = lastSeq;
  const pause = useCallback(() => {
    setFollowing((before) => {
      if (before) setHeld(latest.current);
      return false;
    });
  }, []);
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
