const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

/** Alphabets by the letter that stands for them in a recipe. */
const ALPHABETS: Readonly<Record<string, string>> = {
  w: LETTERS + LETTERS.toLowerCase() + DIGITS,
  a: LETTERS.toLowerCase() + DIGITS,
  A: `${LETTERS}234567`,
  h: `${DIGITS}abcdef`,
  d: DIGITS,
};

/** A generator of small numbers from a seed. */
export function seededBelow(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % limit;
  };
}

/**
 * A text with made-up secrets in it, so that no file of this project holds what looks like one: `<w36>` is 36 letters and digits,
 * `<a9>` small letters and digits, `<A16>` capitals and digits, `<h32>` hexadecimal and `<d10>` decimal digits, `<uuid>` an id.
 * Other words in brackets stay. Runs of letters and digits hold both.
 */
export function fillRecipe(recipe: string, below: (limit: number) => number): string {
  const run = (kind: string, length: number): string => {
    const alphabet = ALPHABETS[kind] ?? '';
    const units = Array.from({ length }, () => alphabet.charAt(below(alphabet.length)));
    if (length > 4 && kind !== 'd') [units[1], units[2]] = ['7', kind === 'A' ? 'Q' : 'b'];
    return units.join('');
  };
  return recipe
    .replaceAll('<uuid>', '<h8>-<h4>-<h4>-<h4>-<h12>')
    .replaceAll(/<([waAhd])(\d+)>/g, (_, kind: string, length: string) => run(kind, Number(length)));
}
