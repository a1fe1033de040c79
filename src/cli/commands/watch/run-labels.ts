const ID_CHARS = 8;
const NAME_CHARS = 16;

/** Short unique names of runs. */
export class RunLabels {
  readonly #labels = new Set<string>();

  /** A label for a new run: the start of its name, else of its id after the last `/`. */
  take(runId: string, name?: string): string {
    const ofId = runId.slice(runId.lastIndexOf('/') + 1).replace(/^agent-(?=.)/, '');
    const short = (name ?? ofId).slice(0, name === undefined ? ID_CHARS : NAME_CHARS).toWellFormed();
    let label = short;
    for (let count = 2; this.#labels.has(label); count += 1) label = `${short}~${count}`;
    this.#labels.add(label);
    return label;
  }
}
