import type { TrajectoryPayload } from '../records/trajectory-record.ts';

type Redact = (payload: TrajectoryPayload) => TrajectoryPayload;

/** Redacts texts of steering code with the redactor of payloads; without one, returns them unchanged. */
export function wordsRedactor(redact: Redact | undefined): (text: string) => string {
  if (redact === undefined) return (text) => text;
  const cleanWords = clean.get(redact) ?? new Set<string>();
  clean.set(redact, cleanWords);
  return (message) => {
    if (cleanWords.has(message)) return message;
    const redacted = redact({ ...CARRIER, message });
    const words = redacted.kind === 'provider_failed' ? redacted.message : '';
    if (words === message && message.length <= CLEAN_CHARS) {
      if (cleanWords.size >= MAX_CLEAN) cleanWords.clear();
      cleanWords.add(message);
    }
    return words;
  };
}

// A cache of texts without secrets. Most texts occur again at the next decision point and in the next run.
const clean = new WeakMap<Redact, Set<string>>();
const MAX_CLEAN = 1_000;
const CLEAN_CHARS = 500;

const CARRIER = { kind: 'provider_failed', cause_seq: 0, ordinal: 0, provider_name: '', phase: '', code: '' } as const;
