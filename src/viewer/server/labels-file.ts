import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';

import { present } from '../../core/base/json.ts';
import { formatLabels, LABEL_TARGETS, readLabels, type Label } from '../../lab/labels.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { replaceFile } from '../../core/node/guarded-file.ts';
import type { LabelsAnswer } from './api-shapes.ts';

const MAX_ID_CHARS = 1_100;
const MAX_NOTE_CHARS = 2_000;

/** A label to store. A null target removes the label. */
export interface LabelChange {
  readonly id: string;
  readonly target: Label['target'] | null;
  readonly note?: string;
}

interface LabelIds {
  readonly ids: ReadonlySet<string>;
  readonly version: string;
}

/** The labels file. It is read before each change, so another program may write it at the same time. */
export class LabelsFile {
  readonly #path: string;
  #lastChange: Promise<unknown> = Promise.resolve();
  #known: LabelIds | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<LabelsAnswer> {
    return { file: this.#path, labels: await this.#readLabels() };
  }

  /** Undefined if the file cannot be read: `read` states why, and a list of runs does not depend on it. */
  async ids(): Promise<LabelIds | undefined> {
    const facts = await stat(this.#path).catch(() => undefined);
    const version = facts === undefined ? '' : `${facts.mtimeMs} ${facts.size}`;
    if (this.#known?.version === version) return this.#known;
    try {
      this.#known = { ids: new Set((await this.#readLabels()).map(({ id }) => id)), version };
    } catch {
      this.#known = undefined;
    }
    return this.#known;
  }

  /** Changes run one at a time; each renames a new file over the old one. Throws CoxswainError `input-io`. */
  async change(change: LabelChange): Promise<LabelsAnswer> {
    const result = this.#lastChange.then(() => this.#change(change));
    // The caller receives the error. The next change must not fail because of it.
    this.#lastChange = result.catch(() => {});
    return result;
  }

  async #change({ id, note, target }: LabelChange): Promise<LabelsAnswer> {
    const labels = new Map((await this.#readLabels()).map((label) => [label.id, label]));
    const previous = labels.get(id);
    if (target === null) labels.delete(id);
    else labels.set(id, { id, target, split: previous?.split ?? '', note: note ?? previous?.note ?? '' });
    replaceFile(this.#path, Buffer.from(formatLabels([...labels.values()])));
    return { file: this.#path, labels: [...labels.values()] };
  }

  async #readLabels(): Promise<readonly Label[]> {
    return existsSync(this.#path) ? readLabels(this.#path) : [];
  }
}

export function readLabelChange(body: unknown): LabelChange {
  // Any other value has no members.
  const { id, note, target } = (typeof body === 'object' && body !== null ? body : {}) as Readonly<
    Record<string, unknown>
  >;
  const newTarget = LABEL_TARGETS.find((one) => one === target) ?? (target === null ? null : undefined);
  if (newTarget === undefined) throw invalidArgument(`target must be ${LABEL_TARGETS.join(', ')} or null`);
  if (!isText(id, MAX_ID_CHARS) || id === '')
    throw invalidArgument(`id must be a text of 1 to ${MAX_ID_CHARS} characters`);
  if (note !== undefined && !isText(note, MAX_NOTE_CHARS))
    throw invalidArgument(`note has at most ${MAX_NOTE_CHARS} characters`);
  return { id, target: newTarget, ...present({ note }) };
}

function isText(value: unknown, maxChars: number): value is string {
  return typeof value === 'string' && value.length <= maxChars && value.isWellFormed();
}
