const ID_CHARS = 8;
const NAME_CHARS = 16;

/** Short names of runs, each unlike the others. */
export class RunLabels {
  readonly #given = new Set<string>();

  /** A label for a run that has none yet: of its name, else the beginning of what follows the last `/` of its id. */
  take(runId: string, name?: string): string {
    const ofId = runId.slice(runId.lastIndexOf('/') + 1).replace(/^agent-(?=.)/, '');
    const short = (name ?? ofId).slice(0, name === undefined ? ID_CHARS : NAME_CHARS).toWellFormed();
    let label = short;
    for (let count = 2; this.#given.has(label); count += 1) label = `${short}~${count}`;
    this.#given.add(label);
    return label;
  }
}
