const LABEL_CHARS = 8;

/** Short names of runs, each unlike the others: the beginning of what follows the last `/` of the id. */
export class RunLabels {
  readonly #given = new Set<string>();

  /** A label for a run that has none yet. */
  take(runId: string): string {
    const name = runId.slice(runId.lastIndexOf('/') + 1).replace(/^agent-(?=.)/, '');
    const short = name.slice(0, LABEL_CHARS).toWellFormed();
    let label = short;
    for (let count = 2; this.#given.has(label); count += 1) label = `${short}~${count}`;
    this.#given.add(label);
    return label;
  }
}
