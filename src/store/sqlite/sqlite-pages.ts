import { Buffer } from 'node:buffer';
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

import type { Mutable } from '../../base/mutable.ts';

/** The page size of every store: SQLite's default, which coxswain never changes. */
export const PAGE_BYTES = 4096;

export interface PageImage {
  readonly pageNumber: number;
  /** The database file or its log. */
  readonly fd: number;
  readonly offset: number;
  /**
   * 2: the last committed version. 1: a version in the log after the point where SQLite stops reading. 0: free or
   * superseded.
   */
  readonly rank: 0 | 1 | 2;
}

/** The pages of a database and its log, read without the B-trees. */
export interface SqlitePages {
  readonly images: readonly PageImage[];
  /** Commits in the log that SQLite ignores because an earlier frame is damaged. */
  readonly lostCommits: number;
  read(image: Pick<PageImage, 'fd' | 'offset'>): Buffer;
  /** Returns the newest version of a page, or undefined for an unknown page. */
  readPage(pageNumber: number): Buffer | undefined;
  close(): void;
}

/*
 * The file format: https://www.sqlite.org/fileformat2.html. Numbers are big-endian. A database begins with a 100-byte header
 * that is part of page 1; a log begins with 32 bytes, and each of its pages with 24.
 */
const HEADER_BYTES = 100;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LOG_MAGIC = 0x377f0682;
const TABLE_LEAF = 0x0d;
const LEAF_HEADER_BYTES = 8;

/** Opens a file and its `-wal` for reading, whatever they contain. Throws what the file system throws. */
export function openSqlitePages(path: string): SqlitePages {
  const fds: number[] = [];
  const close = (): void => {
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    for (const file of [path, `${path}-wal`]) if (file === path || existsSync(file)) fds.push(openSync(file, 'r'));
    const [file = -1, log] = fds;
    return { ...indexPages(file, log === undefined ? [] : readFrames(log)), close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

function indexPages(file: number, frames: readonly Frame[]): Omit<SqlitePages, 'close'> {
  const framesByPage = (isCommitted: boolean): ReadonlyMap<number, Frame> =>
    new Map(frames.filter((frame) => frame.isCommitted === isCommitted).map((frame) => [frame.pageNumber, frame]));
  const newestFrames = framesByPage(true);
  const uncommittedFrames = framesByPage(false);
  const filePages = Math.ceil(fstatSync(file).size / PAGE_BYTES);
  const pageInFile = (pageNumber: number): Omit<PageImage, 'rank'> => ({
    pageNumber,
    fd: file,
    offset: (pageNumber - 1) * PAGE_BYTES,
  });
  const read: SqlitePages['read'] = ({ fd, offset }) => readAt(fd, offset, PAGE_BYTES);
  const readPage = (pageNumber: number): Buffer | undefined => {
    const frame = newestFrames.get(pageNumber) ?? uncommittedFrames.get(pageNumber);
    if (frame !== undefined) return read(frame);
    return pageNumber < 1 || pageNumber > filePages ? undefined : read(pageInFile(pageNumber));
  };
  const header = readAt(file, 0, HEADER_BYTES);
  const pageCount =
    frames.findLast(({ isCommitted, sizeAfter }) => isCommitted && sizeAfter > 0)?.sizeAfter ??
    (header.length === HEADER_BYTES && header.readUInt32BE(28) === filePages ? filePages : undefined);
  const freePages = readFreePages(readPage, pageCount);
  const isFree = (pageNumber: number): boolean =>
    freePages.has(pageNumber) || (pageCount !== undefined && pageNumber > pageCount);
  const images: PageImage[] = [];
  for (let pageNumber = 1; pageNumber <= filePages; pageNumber += 1) {
    // A page superseded by the log may be the only version left if the log is damaged.
    images.push({ ...pageInFile(pageNumber), rank: isFree(pageNumber) || newestFrames.has(pageNumber) ? 0 : 2 });
  }
  for (const frame of frames) {
    const { fd, isCommitted, offset, pageNumber } = frame;
    const isNewest = newestFrames.get(pageNumber) === frame;
    images.push({ pageNumber, fd, offset, rank: isNewest && !isFree(pageNumber) ? 2 : isCommitted ? 0 : 1 });
  }
  const lostCommits = frames.filter(({ isCommitted, sizeAfter }) => !isCommitted && sizeAfter > 0).length;
  return { images, lostCommits, read, readPage };
}

/** The cell offsets of a table leaf; none for any other page and for a leaf with a damaged header. */
export function cellOffsets({ pageNumber }: PageImage, page: Buffer): readonly number[] {
  const headerOffset = pageNumber === 1 ? HEADER_BYTES : 0;
  const pointersOffset = headerOffset + LEAF_HEADER_BYTES;
  if (page.length < pointersOffset || page[headerOffset] !== TABLE_LEAF) return [];
  const count = page.readUInt16BE(headerOffset + 3);
  if (pointersOffset + 2 * count > page.length || page.readUInt16BE(headerOffset + 5) > page.length) return [];
  return Array.from({ length: count }, (_, cell) => page.readUInt16BE(pointersOffset + 2 * cell));
}

interface Frame {
  readonly pageNumber: number;
  readonly fd: number;
  readonly offset: number;
  /** Size of the database in pages if the frame ends a commit; else 0. */
  readonly sizeAfter: number;
  readonly isCommitted: boolean;
}

/**
 * The frames of the log's current generation, in order. SQLite stops at the last commit before the first frame with a wrong
 * checksum; the frames after that point are returned as not committed.
 */
function readFrames(fd: number): readonly Frame[] {
  const bytes = fstatSync(fd).size;
  if (bytes <= LOG_HEADER_BYTES) return [];
  const header = readAt(fd, 0, LOG_HEADER_BYTES);
  const isBigEndian = header.readUInt32BE(0) === LOG_MAGIC + 1;
  let checksum: LogChecksum = logChecksum([0, 0], header.subarray(0, 24), isBigEndian);
  let isValid = checksum[0] === header.readUInt32BE(24) && checksum[1] === header.readUInt32BE(28);
  // With a damaged header the first frame identifies the generation.
  const salt = isValid ? header.subarray(16, 24) : readAt(fd, LOG_HEADER_BYTES + 8, 8);
  const frames: Mutable<Frame>[] = [];
  let committedCount = 0;
  // The last frame may be cut off and still contain records.
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
    const sizeAfter = frameHeader.readUInt32BE(4);
    frames.push({ pageNumber: frameHeader.readUInt32BE(0), fd, offset, sizeAfter, isCommitted: false });
    if (isValid && sizeAfter > 0) committedCount = frames.length;
  }
  for (const frame of frames.slice(0, committedCount)) frame.isCommitted = true;
  return frames;
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

/** The pages on the free list; none if the list does not match the header and cannot be trusted. */
function readFreePages(
  readPage: (pageNumber: number) => Buffer | undefined,
  pageCount: number | undefined,
): ReadonlySet<number> {
  const noPages: ReadonlySet<number> = new Set();
  const header = readPage(1);
  if (header === undefined || header.length < HEADER_BYTES || pageCount === undefined) return noPages;
  const count = header.readUInt32BE(36);
  const pages = new Set<number>();
  let trunkPage = header.readUInt32BE(32);
  while (trunkPage !== 0 && pages.size < count) {
    const page = trunkPage > pageCount || pages.has(trunkPage) ? undefined : readPage(trunkPage);
    if (page === undefined || page.length < 8) return noPages;
    pages.add(trunkPage);
    const leafCount = page.readUInt32BE(4);
    if (8 + 4 * leafCount > page.length) return noPages;
    for (let index = 0; index < leafCount; index += 1) pages.add(page.readUInt32BE(8 + 4 * index));
    trunkPage = page.readUInt32BE(0);
  }
  return pages.size === count && [...pages].every((page) => page > 1 && page <= pageCount) ? pages : noPages;
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
