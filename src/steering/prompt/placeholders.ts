/** A piece of a text: as it is, or the name of a parameter to insert. */
export type TextPart = { readonly literal: string } | { readonly placeholder: string };

/** `$${` first, so that an escape is never read as a placeholder; then `${…}`, closed or not. */
const MARK = /\$\$\{|\$\{([^}]*)(\}?)/g;
const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** True for what may stand between `${` and `}`: a letter or `_`, then letters, digits and `_`, 64 at most. */
export function isParamName(name: string): boolean {
  return PARAM_NAME.test(name);
}

/**
 * Takes a text with `${placeholders}` apart. `$${` is a literal `${`.
 *
 * @returns the parts in order, or what is wrong: the mark that is no placeholder
 * Cost: one pass.
 */
export function parseTextParts(text: string): readonly TextPart[] | { readonly wrong: string } {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(MARK)) {
    const [mark, name, close] = match;
    parts.push({ literal: text.slice(from, match.index) });
    from = match.index + mark.length;
    if (name === undefined) {
      parts.push({ literal: '${' });
      continue;
    }
    if (close !== '}' || !isParamName(name)) return { wrong: mark.slice(0, 40) };
    parts.push({ placeholder: name });
  }
  parts.push({ literal: text.slice(from) });
  return parts;
}
