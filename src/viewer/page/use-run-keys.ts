import { useEffect, useRef } from 'react';

import { isTyping } from './is-typing.ts';

export interface RunKeys {
  readonly step: (direction: 1 | -1) => void;
  readonly call: (direction: 1 | -1) => void;
  readonly find: (kind: 'error' | 'pattern' | 'advice' | 'text', direction: 1 | -1) => void;
  readonly toStart: () => void;
  readonly toEnd: () => void;
  readonly follow: () => void;
  readonly search: () => void;
  readonly compare: () => void;
  readonly label: (target: 'stuck' | 'ok' | 'skip' | null) => void;
  readonly undo: () => void;
  readonly unfold: () => void;
  readonly leave: () => void;
}

export function useRunKeys(keys: RunKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (isTyping(event)) return;
      const act = actionOf(event, latest.current);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

function actionOf(event: KeyboardEvent, keys: RunKeys): (() => void) | undefined {
  switch (event.key) {
    case 'j':
      return () => keys.step(1);
    case 'k':
      return () => keys.step(-1);
    case 'ArrowRight':
      return () => keys.call(1);
    case 'ArrowLeft':
      return () => keys.call(-1);
    case 'e':
      return () => keys.find('error', 1);
    case 'E':
      return () => keys.find('error', -1);
    case 'p':
      return () => keys.find('pattern', 1);
    case 'P':
      return () => keys.find('pattern', -1);
    case 'a':
      return () => keys.find('advice', 1);
    case 'A':
      return () => keys.find('advice', -1);
    case ']':
      return () => keys.find('text', 1);
    case '[':
      return () => keys.find('text', -1);
    case 'g':
      return keys.toStart;
    case 'G':
      return keys.toEnd;
    case 'f':
      return keys.follow;
    case '/':
      return keys.search;
    case 'c':
      return keys.compare;
    case 'y':
      return () => keys.label('stuck');
    case 'n':
      return () => keys.label('ok');
    case 's':
      return () => keys.label('skip');
    case 'u':
      return () => keys.label(null);
    case 'z':
      return keys.undo;
    case 'Escape':
      return keys.leave;
    case 'Enter':
      // On buttons and links, this key has its usual effect.
      return event.target instanceof HTMLElement && event.target.matches('a, button, summary')
        ? undefined
        : keys.unfold;
    default:
      return undefined;
  }
}
