import { listOf } from '../../core/base/json.ts';
import type { RunAddress } from './api.ts';
import { runKey } from './route.ts';

const KEY = 'coxswain-opened';
const MAX_RUNS = 2_000;

const openedKeys = new Set(storedKeys().map(String));

export function wasOpened(run: RunAddress): boolean {
  return openedKeys.has(runKey(run));
}

export function noteOpened(run: RunAddress): void {
  openedKeys.add(runKey(run));
  try {
    localStorage.setItem(KEY, JSON.stringify([...openedKeys].slice(-MAX_RUNS)));
  } catch {
    // Without storage, this lasts until the page is reloaded.
  }
}

function storedKeys(): readonly unknown[] {
  try {
    return listOf(JSON.parse(localStorage.getItem(KEY) ?? '[]'));
  } catch {
    return [];
  }
}
