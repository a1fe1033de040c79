import { CoxswainError } from '../../base/error.ts';
import type { OpenFile } from '../file-system.ts';
import type { LineBuffer } from './jsonl-line.ts';
import { segmentName } from './jsonl-names.ts';
import type { Segment } from './jsonl-names.ts';
import type { LinePlace } from './jsonl-progress.ts';
import { pathOf } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { removeIfThere } from './jsonl-sealed-file.ts';
import { toStoreError } from '../store-error.ts';
import { writeFully } from '../write-fully.ts';

/** How a run's records reach the disk. */
export interface TailSettings {
  /** Each write waits for the disk; without it only `sync`, a full segment and `close` do. */
  readonly syncs: boolean;
  /** A segment that would grow over this is closed, and the next one begun. */
  readonly segmentBytes: number;
}

/** An end of a segment. */
interface Spot {
  readonly segmentSeq: number;
  readonly offset: number;
  readonly lines: number;
}

/**
 * The end of a run, where its one writer writes. What a write that failed left is cut off: at once, or, where the
 * disk refuses that too, before the next write.
 */
export class RunTail {
  readonly #run: RunFiles;
  readonly #settings: TailSettings;
  #end: Spot | undefined;
  #file: OpenFile | undefined;
  /** Where a write began that may have left something. */
  #uncut: Spot | undefined;
  /** Written and not synced. */
  #isDirty = false;
  /** Set when records that were acknowledged without a sync could not be synced: they may be lost. */
  #syncFault: CoxswainError | undefined;

  private constructor(run: RunFiles, settings: TailSettings, end: Spot | undefined) {
    this.#run = run;
    this.#settings = settings;
    this.#end = end;
  }

  /**
   * Opens the end of a run, cuts off what a crash left unfinished after the last record, and waits until the disk has the
   * rest: a writer that was killed may have left records that no disk has.
   *
   * @param last  where the last record lies, and the last segment there is: a later one is what a crash left
   */
  static async open(
    run: RunFiles,
    last: { readonly place: LinePlace | undefined; readonly segment: Segment | undefined },
    settings: TailSettings,
  ): Promise<RunTail> {
    const { place, segment } = last;
    const end = place && { segmentSeq: place.segmentSeq, offset: place.endOffset, lines: place.line };
    const isLater = segment !== undefined && segment.firstSeq !== end?.segmentSeq;
    // Nothing is added to a compressed segment: the next write begins a new one.
    const tail = new RunTail(run, settings, segment?.isCompressed === true ? undefined : end);
    if (isLater) await tail.#cut({ segmentSeq: segment.firstSeq, offset: 0, lines: 0 });
    if (tail.#end !== undefined) await tail.#openAt(tail.#end);
    await run.fileSystem.syncFolder(run.folder);
    return tail;
  }

  /** Where lines written now would begin: at the end, or in a new segment, which begins with `firstSeq`. */
  spotFor(bytes: number, firstSeq: number): Spot {
    const end = this.#end;
    const fits = end !== undefined && (end.offset === 0 || end.offset + bytes <= this.#settings.segmentBytes);
    return fits ? end : { segmentSeq: firstSeq, offset: 0, lines: 0 };
  }

  /**
   * Writes lines at a spot that `spotFor` gave, and syncs where the settings say so.
   *
   * Throws what the file system throws; then nothing of the lines is stored, once the disk takes a cut.
   */
  async write(lines: LineBuffer, lineCount: number, spot: Spot): Promise<void> {
    const { bytes } = lines;
    if (this.#uncut !== undefined) await this.makeWhole();
    this.#uncut = spot;
    try {
      const file = this.#openFileAt(spot) ?? (await this.#fileAt(spot));
      await writeFully(file, bytes);
      this.#isDirty = true;
      if (file.syncsWrites) this.#isDirty = false;
      else if (this.#settings.syncs) await this.#syncFile(file);
    } catch (thrown) {
      // A refusal is met again, and thrown, before the next write.
      await this.makeWhole().catch(() => undefined);
      throw thrown;
    }
    this.#uncut = undefined;
    const { segmentSeq, offset } = spot;
    this.#end = { segmentSeq, offset: offset + bytes.length, lines: spot.lines + lineCount };
  }

  /** Cuts off what a write that failed has left. Throws what the file system throws. */
  async makeWhole(): Promise<void> {
    const spot = this.#uncut;
    if (spot === undefined) return;
    await this.#closeFile();
    await this.#cut(spot);
    this.#uncut = undefined;
  }

  /** Resolves when the disk has all that was written. */
  async sync(): Promise<void> {
    await this.makeWhole();
    if (this.#isDirty && this.#end !== undefined) await this.#syncFile(await this.#fileAt(this.#end));
  }

  /** Syncs and closes. */
  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      await this.#closeFile();
    }
  }

  async #fileAt(spot: Spot): Promise<OpenFile> {
    if (spot.segmentSeq !== this.#end?.segmentSeq) return this.#beginSegment(spot);
    const file = this.#file ?? (await this.#openAt(spot));
    this.#checkSize(file, spot);
    return file;
  }

  /** The file, where it is open: then a write begins in the same step in which it is asked for. */
  #openFileAt(spot: Spot): OpenFile | undefined {
    if (spot.segmentSeq !== this.#end?.segmentSeq || this.#file === undefined) return undefined;
    this.#checkSize(this.#file, spot);
    return this.#file;
  }

  #checkSize(file: OpenFile, spot: Spot): void {
    if (file.sizeBytes() !== spot.offset) throw foreignWrite(pathOf(this.#run, segmentName(spot.segmentSeq)));
  }

  async #beginSegment(spot: Spot): Promise<OpenFile> {
    if (this.#isDirty && this.#end !== undefined) await this.#syncFile(await this.#fileAt(this.#end));
    await this.#closeFile();
    const file = await this.#run.fileSystem.open(pathOf(this.#run, segmentName(spot.segmentSeq)), 'make', {
      syncsWrites: this.#settings.syncs,
    });
    this.#file = file;
    await file.truncate(0);
    // A new file is durable only with the folder that names it.
    await this.#run.fileSystem.syncFolder(this.#run.folder);
    return file;
  }

  async #openAt(spot: Spot): Promise<OpenFile> {
    const path = pathOf(this.#run, segmentName(spot.segmentSeq));
    const file = await this.#run.fileSystem.open(path, 'append', { syncsWrites: this.#settings.syncs });
    try {
      const sizeBytes = file.sizeBytes();
      if (sizeBytes < spot.offset) throw foreignWrite(path);
      if (sizeBytes > spot.offset) await file.truncate(spot.offset);
      await this.#syncFile(file);
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
    this.#file = file;
    return file;
  }

  async #cut(spot: Spot): Promise<void> {
    const name = segmentName(spot.segmentSeq);
    if (spot.offset === 0) {
      await removeIfThere(this.#run, name);
      await this.#run.fileSystem.syncFolder(this.#run.folder);
      return;
    }
    await this.#openAt(spot);
  }

  async #syncFile(file: OpenFile): Promise<void> {
    // Linux answers a second sync with success although what the first one could not write is lost.
    if (this.#syncFault !== undefined) throw this.#syncFault;
    try {
      await file.sync();
    } catch (thrown) {
      if (!this.#settings.syncs) this.#syncFault = toStoreError(thrown, `sync ${this.#run.folder}`);
      throw thrown;
    }
    this.#isDirty = false;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

function foreignWrite(path: string): CoxswainError {
  return new CoxswainError('store-io', `${path} was changed by someone else while this process had its lock`);
}
