/** A queue with records that are not in the store. */
export interface UnsavedQueue {
  /** Logs the records that are lost if the process ends now. Synchronous. */
  logUnsaved(): void;
}

const unsavedQueues = new Set<UnsavedQueue>();
let isListening = false;

/** Adds a queue that logs its losses when the process ends by itself, by `process.exit()` or by an error. */
export function watchUnsaved(queue: UnsavedQueue): void {
  unsavedQueues.add(queue);
  if (isListening) return;
  isListening = true;
  process.on('exit', logAllUnsaved);
}

export function forgetUnsaved(queue: UnsavedQueue): void {
  unsavedQueues.delete(queue);
}

/** Logs the losses of all queues, once. */
export function logAllUnsaved(): void {
  for (const queue of unsavedQueues) queue.logUnsaved();
  unsavedQueues.clear();
}
