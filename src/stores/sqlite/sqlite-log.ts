import { Buffer } from 'node:buffer';
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/*
 * The file format: https://www.sqlite.org/fileformat2.html#walformat. Numbers are big-endian. A log begins with 32 bytes, and each
 * of its pages with 24.
 */
const PAGE_BYTES = 4096;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LOG_MAGIC = 0x377f0682;

/**
 * Counts the commits in the log of a database that SQLite ignores because an earlier frame is damaged: those of the current
 * generation after the first frame with a wrong checksum. Throws what the file system throws.
 */
export function countLostCommits(path: string): number {
  const log = `${path}-wal`;
  if (!existsSync(log)) return 0;
  const fd = openSync(log, 'r');
  try {
    return countLostFrames(fd);
  } finally {
    closeSync(fd);
  }
}

function countLostFrames(fd: number): number {
  const bytes = fstatSync(fd).size;
  if (bytes <= LOG_HEADER_BYTES) return 0;
  const header = readAt(fd, 0, LOG_HEADER_BYTES);
  const isBigEndian = header.readUInt32BE(0) === LOG_MAGIC + 1;
  let checksum: LogChecksum = logChecksum([0, 0], header.subarray(0, 24), isBigEndian);
  let isValid = checksum[0] === header.readUInt32BE(24) && checksum[1] === header.readUInt32BE(28);
  // With a damaged header the first frame identifies the generation.
  const salt = isValid ? header.subarray(16, 24) : readAt(fd, LOG_HEADER_BYTES + 8, 8);
  let lostCommits = 0;
  // The last frame may be cut off.
  for (let start = LOG_HEADER_BYTES; start + FRAME_HEADER_BYTES < bytes; start += FRAME_HEADER_BYTES + PAGE_BYTES) {
    const frameHeader = readAt(fd, start, FRAME_HEADER_BYTES);
    if (!frameHeader.subarray(8, 16).equals(salt)) {
      isValid = false;
      continue;
    }
    const offset = start + FRAME_HEADER_BYTES;
    isValid &&= offset + PAGE_BYTES <= bytes;
    if (isValid) {
      checksum = logChecksum(
        logChecksum(checksum, frameHeader.subarray(0, 8), isBigEndian),
        readAt(fd, offset, PAGE_BYTES),
        isBigEndian,
      );
      isValid = checksum[0] === frameHeader.readUInt32BE(16) && checksum[1] === frameHeader.readUInt32BE(20);
    }
    // The size of the database in pages, if the frame ends a commit; else 0.
    if (frameHeader.readUInt32BE(4) > 0 && !isValid) lostCommits += 1;
  }
  return lostCommits;
}

type LogChecksum = readonly [number, number];

/** The log's checksum, over words of the endianness that its magic number gives. */
function logChecksum([first, second]: LogChecksum, bytes: Buffer, isBigEndian: boolean): LogChecksum {
  let [a, b] = [first, second];
  const readWord = (at: number): number => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + readWord(at) + b) >>> 0;
    b = (b + readWord(at + 4) + a) >>> 0;
  }
  return [a, b];
}

/** The result is shorter at the end of the file. */
function readAt(fd: number, offset: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  while (length < bytes) {
    const count = readSync(fd, buffer, length, bytes - length, offset + length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
