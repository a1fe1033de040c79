/** Digits of the first `seq` in the name of a segment, so that names sort as numbers do. */
const SEQ_DIGITS = 16;
const PLAIN = /^(\d{16})\.jsonl$/;
/** Earlier versions compressed segments that were full. */
const COMPRESSED = /^(\d{16})\.jsonl\.zst$/;

/** One file of a run's records. */
export interface Segment {
  readonly name: string;
  /** The `seq` of its first record. */
  readonly firstSeq: number;
  readonly isCompressed: boolean;
}

/** The name of the segment that begins with this record. */
export function segmentName(firstSeq: number): string {
  return `${padded(firstSeq)}.jsonl`;
}

/** The segments among the names in a run's folder, in order; of one that is there plain and compressed, the plain. */
export function segmentsIn(names: readonly string[]): readonly Segment[] {
  const segments = new Map<number, Segment>();
  for (const name of names) {
    const plain = PLAIN.exec(name)?.[1];
    const digits = plain ?? COMPRESSED.exec(name)?.[1];
    if (digits === undefined) continue;
    const firstSeq = Number(digits);
    if (plain === undefined && segments.has(firstSeq)) continue;
    segments.set(firstSeq, { name, firstSeq, isCompressed: plain === undefined });
  }
  return [...segments.values()].sort((left, right) => left.firstSeq - right.firstSeq);
}

function padded(seq: number): string {
  return String(seq).padStart(SEQ_DIGITS, '0');
}
