const ID_CHARS = 8;
const NAME_CHARS = 16;

/** Assigns short unique names to runs. */
export class RunLabels {
  readonly #labels = new Set<string>();

  /** Returns a label for a new run: the beginning of its name, or of the part of its id after the last `/`. */
  take(runId: string, name?: string): string {
    const ofId = runId.slice(runId.lastIndexOf('/') + 1).replace(/^agent-(?=.)/, '');
    const short = (name ?? ofId).slice(0, name === undefined ? ID_CHARS : NAME_CHARS).toWellFormed();
    let label = short;
    for (let count = 2; this.#labels.has(label); count += 1) label = `${short}~${count}`;
    this.#labels.add(label);
    return label;
  }
}
