/**
 * Lists what the standard steering would say in the recorded runs of `../shared/trajectories`.
 *
 * `node scripts/read-advice.ts` prints pieces of advice per corpus and 1,000 calls. `--draw N --seed S [--part build|judge]`
 * prints N of them instead, drawn at random in equal strata, one a corpus, each with the calls around it, without the pieces of
 * `test/truth/advice`; `--order S` shuffles them for a second reading. `--figures PATH` prints the figures of pieces that were read.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { shareOf } from '../src/lab/statistics.ts';
import { canonicalJson } from '../src/core/base/canonical-json.ts';
import { hashText } from '../src/core/base/hash.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { SteeringReplay } from '../src/core/replay/steering-replay.ts';
import { CORPORA, isReadable, readMoments, type Corpus } from '../test/support/score-truth.ts';
import { sharedPath } from '../test/support/shared-data.ts';

/** A piece of advice in its run. */
interface Piece {
  readonly corpus: string;
  readonly run: string;
  /** Calls before it. */
  readonly call: number;
  readonly provider: string;
  readonly text: string;
  /** The calls around it, for the reader alone. */
  readonly context: string;
}

/** A piece that was read, as the files of `test/truth/advice` hold it. */
interface ReadPiece extends Omit<Piece, 'context'> {
  /** One reading, or two independent ones. */
  readonly readings: readonly { readonly isTrue: boolean; readonly isUseful: boolean; readonly why: string }[];
}

const TRUTH = join(import.meta.dirname, '../test/truth');
const CALLS_BEFORE = 5;
const CALLS_AFTER = 2;

const { values } = parseArgs({
  options: {
    draw: { type: 'string' },
    seed: { type: 'string', default: '1' },
    order: { type: 'string' },
    part: { type: 'string' },
    figures: { type: 'string' },
  },
});
async function readCorpora(): Promise<void> {
  const folder = sharedPath('trajectories');
  if (folder === undefined) throw new Error('../shared/trajectories is not there');
  const judged = new Set(readMoments(join(TRUTH, 'moments.jsonl'), 'judge').map((one) => one.run));
  const isJudge = (run: string): boolean => judged.has(run) || /[89a-f]$/.test(hashText(run));
  const read = globSync(join(TRUTH, 'advice/*.jsonl')).flatMap(readPieces);
  const known = new Set(read.map(({ run, call }) => `${run} ${call}`));
  const strata: Piece[][] = [];
  for (const corpus of CORPORA) {
    const { runs, calls, pieces } = await piecesOf(corpus, folder);
    const per = calls === 0 ? 0 : (1_000 * pieces.length) / calls;
    const by = Object.entries(Object.groupBy(pieces, ({ provider }) => provider)).map(
      ([name, list = []]) => `${name} ${list.length}`,
    );
    if (values.draw === undefined)
      console.log([corpus.name, runs, calls, pieces.length, per.toFixed(1), ...by].join('\t'));
    const ofPart = ({ run }: Piece): boolean => values.part === undefined || isJudge(run) === (values.part === 'judge');
    strata.push(pieces.filter((piece) => ofPart(piece) && !known.has(`${piece.run} ${piece.call}`)));
  }
  if (values.draw === undefined) return;
  const drawn = drawEqually(
    strata.map((pieces) => shuffled(pieces, values.seed)),
    Number(values.draw),
  );
  for (const [index, { context, ...piece }] of shuffled(drawn, values.order ?? values.seed).entries()) {
    console.log(`#${index + 1} ${JSON.stringify(piece)}\n${context}\n`);
  }
}

async function piecesOf(
  corpus: Corpus,
  folder: string,
): Promise<{ runs: number; calls: number; pieces: readonly Piece[] }> {
  const open = new Map<string, Reading>();
  const pieces: Piece[] = [];
  let [runs, calls] = [0, 0];
  for (const path of globSync(join(folder, corpus.files)).sort()) {
    if (!(await isReadable(path))) continue;
    for await (const item of readRuns(importSource(path), { source: path })) {
      if (item.type === 'diagnostic' || item.run.depth > 0) continue;
      const reading = open.get(item.run.key) ?? new Reading();
      open.set(item.run.key, reading);
      if (item.type === 'record') {
        reading.take(item.record);
        continue;
      }
      open.delete(item.run.key);
      runs += 1;
      calls += reading.calls.length;
      const run = corpus.files.includes('*') ? basename(path) : item.run.id;
      for (const piece of reading.pieces) {
        pieces.push({ corpus: corpus.name, run, ...piece, context: reading.around(piece.call) });
      }
    }
  }
  return { runs, calls, pieces };
}

/** One run, steered after the fact. */
class Reading {
  readonly calls: string[] = [];
  readonly pieces: Omit<Piece, 'corpus' | 'run' | 'context'>[] = [];
  readonly #replay = new SteeringReplay();
  readonly #callTexts = new Map<string, string>();
  #task = '';

  take(record: Parameters<SteeringReplay['take']>[0]): void {
    const { payload } = record;
    if (payload.kind === 'run_started') this.#task = payload.task ?? '';
    if (payload.kind === 'tool_started') {
      this.#callTexts.set(payload.tool_call_id, `${payload.tool_name} ${ends(canonicalJson(payload.args), 150)}`);
    }
    if (payload.kind === 'tool_ended') {
      const result = typeof payload.result === 'string' ? payload.result : canonicalJson(payload.result);
      const callText = this.#callTexts.get(payload.tool_call_id) ?? '?';
      this.calls.push(`${callText}\n    ${payload.is_error ? 'FAILED' : 'ok'}: ${ends(result, 130)}`);
    }
    if (payload.kind === 'message_appended' && payload.message.role === 'user') {
      if (this.calls.length > 0) this.calls[this.calls.length - 1] += '\n  USER SPEAKS';
    }
    for (const derived of this.#replay.follow(record)) {
      const call = this.calls.length;
      if (derived.kind === 'feedback_produced') {
        this.pieces.push({ call, provider: derived.provider_name, text: derived.text });
      }
      if (derived.kind === 'guidance_produced') {
        this.pieces.push({ call, provider: derived.provider_name, text: derived.injection.content });
      }
    }
  }

  around(call: number): string {
    const from = Math.max(0, call - CALLS_BEFORE);
    const lines = this.calls.slice(from, call + CALLS_AFTER).map((text, index) => {
      const number = from + index + 1;
      return `${number === call + 1 ? '  ---- advice ----\n' : ''}  ${number}. ${text}`;
    });
    return [`  TASK ${ends(this.#task, 110)}`, ...lines, `  (${this.calls.length} calls in all)`].join('\n');
  }
}

function ends(text: string, most: number): string {
  // Blanks stay: calls that differ in indentation are not equal.
  const line = text.replaceAll(/[\r\n]+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most / 2)} … ${line.slice(-most / 2)}`;
}

function shuffled<Item extends { readonly run: string; readonly call: number; readonly provider: string }>(
  items: readonly Item[],
  seed: string,
): readonly Item[] {
  const key = ({ run, call, provider }: Item): string => hashText([seed, run, call, provider].join('\n'));
  return items
    .map((item) => ({ item, at: key(item) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ item }) => item);
}

/** As many of each stratum as there are, the rest from the larger ones. */
function drawEqually(strata: readonly (readonly Piece[])[], count: number): readonly Piece[] {
  const drawn: Piece[] = [];
  for (let turn = 0; drawn.length < count && strata.some(({ length }) => turn < length); turn += 1) {
    drawn.push(...strata.flatMap((pieces) => pieces.slice(turn, turn + 1)));
  }
  return drawn.slice(0, count);
}

function readPieces(path: string): readonly ReadPiece[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  // The file is our own and has this form.
  return lines.map((line) => JSON.parse(line) as ReadPiece);
}

function printFigures(path: string): void {
  const pieces = readPieces(path);
  for (const verdict of ['isTrue', 'isUseful'] as const) {
    const pairs = pieces.map(({ readings }) => readings.map((reading) => reading[verdict]));
    const { hits, of, low, high } = shareOf(pairs.filter((pair) => pair.every(Boolean)).length, pairs.length);
    console.log(`${verdict}: ${hits} of ${of} (${percent(low)}-${percent(high)} %)${agreementOf(pairs)}`);
  }
}

/** Agreement and kappa of two readings; nothing where there is one. */
function agreementOf(pairs: readonly (readonly boolean[])[]): string {
  if (pairs.some(({ length }) => length < 2)) return '';
  const agreed = pairs.filter(([first, second]) => first === second).length / pairs.length;
  const [p = 0, q = 0] = [0, 1].map((reader) => pairs.filter((pair) => pair[reader]).length / pairs.length);
  const chance = p * q + (1 - p) * (1 - q);
  const kappa = chance === 1 ? 1 : (agreed - chance) / (1 - chance);
  return `, agreement ${percent(agreed)} %, kappa ${kappa.toFixed(2)}`;
}

function percent(share: number | null): string {
  return share === null ? '-' : (100 * share).toFixed(1);
}

if (values.figures === undefined) await readCorpora();
else printFigures(values.figures);
