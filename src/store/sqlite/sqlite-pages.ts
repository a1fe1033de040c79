import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import type { Mutable } from '../../base/mutable.ts';

/** A page as some moment left it. */
export interface PageImage {
  readonly pageNumber: number;
  /** Of the file, or of its log. */
  readonly fd: number;
  readonly offset: number;
  /**
   * 2: as the last commit left it; 1: in the log behind where SQLite stops reading it; 0: on a page that the file says is
   * free, or behind its end.
   */
  readonly rank: 0 | 1 | 2;
}

/** The pages of a database and its log, without any of its trees. */
export interface SqlitePages {
  readonly pageBytes: number;
  readonly images: readonly PageImage[];
  /** Commits in the log that SQLite does not read, because a frame before their end is not as it was written. */
  readonly lostCommits: number;
  read(image: PageImage): Buffer;
  /** The page of that number, the newest that can be had; undefined when there is none. */
  readPage(pageNumber: number): Buffer | undefined;
  close(): void;
}

/*
 * The file format: https://www.sqlite.org/fileformat2.html. Numbers are big-endian. A database begins with 100 bytes that
 * count as part of page 1; a log with 32, and 24 before each page.
 */
const HEADER_BYTES = 100;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LOG_MAGIC = 0x377f0682;
const USUAL_PAGE_BYTES = 4096;
const TABLE_LEAF = 0x0d;
const LEAF_HEADER_BYTES = 8;
/** Pages that are looked at to tell their size. */
const SAMPLED_PAGES = 2_000;

/** Opens a file and its `-wal` for reading, whatever they hold. Throws what the file system throws. */
export function openSqlitePages(path: string): SqlitePages {
  const fds: number[] = [];
  const open = (file: string): { readonly fd: number; readonly bytes: number } => {
    const fd = openSync(file, 'r');
    fds.push(fd);
    return { fd, bytes: fstatSync(fd).size };
  };
  const close = (): void => {
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    const file = open(path);
    const log = openLog(`${path}-wal`, open);
    const header = readAt(file.fd, 0, HEADER_BYTES);
    const pageBytes = pageBytesOf(file, header, log);
    const frames = log === undefined ? [] : framesOf(log, pageBytes);
    const lastCommit = frames.findLast(({ isCommitted, sizeAfter }) => isCommitted && sizeAfter > 0);
    const newest = new Map<number, Frame>();
    for (const frame of frames) if (frame.isCommitted) newest.set(frame.pageNumber, frame);
    const filePages = Math.ceil(file.bytes / pageBytes);
    const inFile = (pageNumber: number): PageImage => ({
      pageNumber,
      fd: file.fd,
      offset: (pageNumber - 1) * pageBytes,
      rank: 2,
    });
    const later = new Map<number, Frame>();
    for (const frame of frames) if (!frame.isCommitted) later.set(frame.pageNumber, frame);
    const read = ({ fd, offset }: Pick<PageImage, 'fd' | 'offset'>): Buffer => readAt(fd, offset, pageBytes);
    const readPage = (pageNumber: number): Buffer | undefined => {
      const frame = newest.get(pageNumber) ?? later.get(pageNumber);
      if (frame !== undefined) return read(frame);
      return pageNumber < 1 || pageNumber > filePages ? undefined : read(inFile(pageNumber));
    };
    const pages =
      lastCommit?.sizeAfter ??
      (header.length === HEADER_BYTES && header.readUInt32BE(28) === filePages ? filePages : undefined);
    const free = freePagesOf(readPage, pages);
    const isFree = (pageNumber: number): boolean => free.has(pageNumber) || (pages !== undefined && pageNumber > pages);
    const images: PageImage[] = [];
    for (let pageNumber = 1; pageNumber <= filePages; pageNumber += 1) {
      // What the log has newer is no page of the file any more, but where the log is damaged it may be the only one.
      const rank = isFree(pageNumber) || newest.has(pageNumber) ? 0 : 2;
      images.push({ ...inFile(pageNumber), rank });
    }
    for (const frame of frames) {
      const isNewest = newest.get(frame.pageNumber) === frame;
      const rank = isNewest && !isFree(frame.pageNumber) ? 2 : frame.isCommitted ? 0 : 1;
      images.push({ pageNumber: frame.pageNumber, fd: frame.fd, offset: frame.offset, rank });
    }
    const lostCommits = frames.filter(({ isCommitted, sizeAfter }) => !isCommitted && sizeAfter > 0).length;
    return { pageBytes, images, lostCommits, read, readPage, close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

interface OpenFile {
  readonly fd: number;
  readonly bytes: number;
}

function openLog(path: string, open: (file: string) => OpenFile): OpenFile | undefined {
  try {
    const log = open(path);
    return log.bytes > LOG_HEADER_BYTES ? log : undefined;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** As the file or its log says, or as most pages look. */
function pageBytesOf(file: OpenFile, header: Buffer, log: OpenFile | undefined): number {
  const said = header.length === HEADER_BYTES ? header.readUInt16BE(16) : 0;
  const logged = log === undefined ? 0 : readAt(log.fd, 8, 4).readUInt32BE(0);
  const sizes = [said === 1 ? 65_536 : said, logged, USUAL_PAGE_BYTES].filter(
    (size) => size >= 512 && size <= 65_536 && (size & (size - 1)) === 0,
  );
  const leaves = sizes.map((size) => leavesAt(file, size));
  return sizes[leaves.indexOf(Math.max(...leaves))] ?? USUAL_PAGE_BYTES;
}

function leavesAt({ fd, bytes }: OpenFile, pageBytes: number): number {
  let leaves = 0;
  for (let page = 1; page < Math.min(SAMPLED_PAGES, bytes / pageBytes); page += 1) {
    const head = readAt(fd, page * pageBytes, LEAF_HEADER_BYTES);
    if (head.length === LEAF_HEADER_BYTES && isLeaf(head, 0, pageBytes)) leaves += 1;
  }
  return leaves;
}

function isLeaf(page: Buffer, at: number, pageBytes: number): boolean {
  if (page[at] !== TABLE_LEAF) return false;
  const cells = page.readUInt16BE(at + 3);
  return LEAF_HEADER_BYTES + 2 * cells <= pageBytes && page.readUInt16BE(at + 5) <= pageBytes;
}

/**
 * Where the cells of a leaf of a table begin.
 *
 * @returns none for any other page, and for a leaf whose header is damaged
 */
export function cellOffsets({ pageNumber }: PageImage, page: Buffer): readonly number[] {
  const at = pageNumber === 1 ? HEADER_BYTES : 0;
  if (page.length < at + LEAF_HEADER_BYTES || !isLeaf(page, at, page.length)) return [];
  const count = page.readUInt16BE(at + 3);
  const first = at + LEAF_HEADER_BYTES;
  const offsets: number[] = [];
  for (let cell = 0; cell < count && first + 2 * cell + 2 <= page.length; cell += 1) {
    offsets.push(page.readUInt16BE(first + 2 * cell));
  }
  return offsets;
}

interface Frame {
  readonly pageNumber: number;
  readonly fd: number;
  readonly offset: number;
  /** Pages of the database, where the frame ends a commit; else 0. */
  readonly sizeAfter: number;
  readonly isCommitted: boolean;
}

/**
 * The frames of the log's present round, in order. SQLite reads it up to the last commit before the first frame whose checksum is
 * wrong; the others are given too, as not committed.
 */
function framesOf({ fd, bytes }: OpenFile, pageBytes: number): readonly Frame[] {
  const header = readAt(fd, 0, LOG_HEADER_BYTES);
  const isBigEndian = header.readUInt32BE(0) === LOG_MAGIC + 1;
  let sum: LogSum = logSum([0, 0], header.subarray(0, 24), isBigEndian);
  let isValid = sum[0] === header.readUInt32BE(24) && sum[1] === header.readUInt32BE(28);
  // A damaged header names no round: then the first frame does.
  const round = isValid ? header.subarray(16, 24) : readAt(fd, LOG_HEADER_BYTES + 8, 8);
  const frames: Mutable<Frame>[] = [];
  let committed = 0;
  // The last one may be cut off, and hold records all the same.
  for (let at = LOG_HEADER_BYTES; at + FRAME_HEADER_BYTES < bytes; at += FRAME_HEADER_BYTES + pageBytes) {
    const head = readAt(fd, at, FRAME_HEADER_BYTES);
    if (!head.subarray(8, 16).equals(round)) {
      isValid = false;
      continue;
    }
    const offset = at + FRAME_HEADER_BYTES;
    isValid &&= offset + pageBytes <= bytes;
    if (isValid) {
      sum = logSum(logSum(sum, head.subarray(0, 8), isBigEndian), readAt(fd, offset, pageBytes), isBigEndian);
      isValid = sum[0] === head.readUInt32BE(16) && sum[1] === head.readUInt32BE(20);
    }
    const sizeAfter = head.readUInt32BE(4);
    frames.push({ pageNumber: head.readUInt32BE(0), fd, offset, sizeAfter, isCommitted: false });
    if (isValid && sizeAfter > 0) committed = frames.length;
  }
  for (const frame of frames.slice(0, committed)) frame.isCommitted = true;
  return frames;
}

type LogSum = readonly [number, number];

/** The log's checksum, over words of the endianness that its magic tells. */
function logSum([first, second]: LogSum, bytes: Buffer, isBigEndian: boolean): LogSum {
  let [a, b] = [first, second];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

/** The pages on the free list; none where the list is not what the header says, and so not to be trusted. */
function freePagesOf(
  readPage: (pageNumber: number) => Buffer | undefined,
  pages: number | undefined,
): ReadonlySet<number> {
  const nothing: ReadonlySet<number> = new Set();
  const header = readPage(1);
  if (header === undefined || header.length < HEADER_BYTES || pages === undefined) return nothing;
  const count = header.readUInt32BE(36);
  const free = new Set<number>();
  let trunk = header.readUInt32BE(32);
  while (trunk !== 0 && free.size < count) {
    const page = trunk > pages || free.has(trunk) ? undefined : readPage(trunk);
    if (page === undefined || page.length < 8) return nothing;
    free.add(trunk);
    const leaves = page.readUInt32BE(4);
    if (8 + 4 * leaves > page.length) return nothing;
    for (let index = 0; index < leaves; index += 1) free.add(page.readUInt32BE(8 + 4 * index));
    trunk = page.readUInt32BE(0);
  }
  return free.size === count && [...free].every((page) => page > 1 && page <= pages) ? free : nothing;
}

/** Shorter at the end of the file. */
function readAt(fd: number, offset: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let read = 0;
  while (read < bytes) {
    const some = readSync(fd, buffer, read, bytes - read, offset + read);
    if (some === 0) break;
    read += some;
  }
  return buffer.subarray(0, read);
}
