import type { TrajectoryPayload } from '../records/trajectory-record.ts';

type Redact = (payload: TrajectoryPayload) => TrajectoryPayload;

/** What takes secrets out of texts of the code that steers a run, by the redactor of its payloads. Default: nothing is taken out. */
export function wordsRedactor(redact: Redact | undefined): (text: string) => string {
  if (redact === undefined) return (text) => text;
  const known = clean.get(redact) ?? new Set<string>();
  clean.set(redact, known);
  return (message) => {
    if (known.has(message)) return message;
    const said = redact({ ...WORDS, message });
    const words = said.kind === 'provider_failed' ? said.message : '';
    if (words === message && message.length <= CLEAN_CHARS) {
      if (known.size >= MAX_CLEAN) known.clear();
      known.add(message);
    }
    return words;
  };
}

// Most of what is said is said again at the next decision point, and in the next run. Only what held no secret is remembered.
const clean = new WeakMap<Redact, Set<string>>();
const MAX_CLEAN = 1_000;
const CLEAN_CHARS = 500;

const WORDS = { kind: 'provider_failed', cause_seq: 0, ordinal: 0, provider_name: '', phase: '', code: '' } as const;
