import type { RunFiles } from './jsonl-run-files.ts';
import { RunWriter } from './jsonl-run-writer.ts';
import type { JsonlSettings } from './jsonl-settings.ts';
import type { LockIdentity } from '../lock-identity.ts';

/** Runs that one store holds open; each has a file, a buffer and a lock. */
const MAX_OPEN = 64;

/** The writers of a store, one a run. The one that was idle longest is closed when there are too many. */
export class RunWriters {
  readonly #filesOf: (name: string) => RunFiles;
  readonly #settings: JsonlSettings;
  readonly #identity: LockIdentity;
  /** By folder name, the one used last at the end. */
  readonly #writers = new Map<string, RunWriter>();
  /** Of writers that were closed for being idle; the next `flush` or `close` throws the first. */
  readonly #faults: unknown[] = [];
  /** Those that are being closed for being idle; none of them counts as open. */
  readonly #closing = new Map<RunWriter, Promise<void>>();

  constructor(filesOf: (name: string) => RunFiles, settings: JsonlSettings, identity: LockIdentity) {
    this.#filesOf = filesOf;
    this.#settings = settings;
    this.#identity = identity;
  }

  /** The writer of a run. */
  of(name: string): RunWriter {
    const writer = this.#writers.get(name) ?? new RunWriter(this.#filesOf(name), this.#settings, this.#identity);
    this.#writers.delete(name);
    this.#writers.set(name, writer);
    this.#closeIdle(name);
    return writer;
  }

  /** Resolves when the disk has everything given before the call. Throws the first fault, when all are done. */
  async flush(): Promise<void> {
    await this.#settle(Array.from(this.#writers.values(), (writer) => writer.flush()));
  }

  /** Closes all. Throws the first fault, when all are done. */
  async close(): Promise<void> {
    const writers = [...this.#writers.values()];
    this.#writers.clear();
    await this.#settle(writers.map((writer) => writer.close()));
  }

  async #settle(works: readonly Promise<void>[]): Promise<void> {
    const settled = await Promise.allSettled(works);
    await Promise.all(this.#closing.values());
    const faults = this.#faults.splice(0);
    for (const one of settled) if (one.status === 'rejected') faults.push(one.reason);
    if (faults.length > 0) throw faults[0];
  }

  #closeIdle(except: string): void {
    for (const [name, writer] of this.#writers) {
      if (this.#writers.size - this.#closing.size <= MAX_OPEN) return;
      if (writer.isIdle && name !== except && !this.#closing.has(writer)) this.#close(name, writer);
    }
  }

  #close(name: string, writer: RunWriter): void {
    const closing = writer
      .close()
      .catch((thrown: unknown) => {
        this.#faults.push(thrown);
      })
      .finally(() => {
        this.#closing.delete(writer);
        // Unless it was wanted again meanwhile: then it may have the lock, and another writer would meet it.
        if (writer.isIdle && !writer.isOpen && this.#writers.get(name) === writer) this.#writers.delete(name);
      });
    this.#closing.set(writer, closing);
  }
}
