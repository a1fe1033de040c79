/** Milliseconds after which what a test waits for counts as hanging; no test may depend on how busy the machine is. */
export const HANGS_AFTER_MS = 850_000;
