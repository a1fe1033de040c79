import { CoxswainError } from '../../base/error.ts';
import { isDefinitionName } from '../../session/definition-name.ts';
import type { PromptSection } from './prompt.ts';

/** @throws CoxswainError "invalid-definition" when `key` is not 1 to 64 of `a-z 0-9 . _ -`, a letter or digit first */
export function checkPromptKey(what: string, key: string): void {
  if (isDefinitionName(key) && !key.includes('/')) return;
  throw new CoxswainError(
    'invalid-definition',
    `${what} ${JSON.stringify(key)} must be 1 to 64 of a-z, 0-9, ".", "_", "-", beginning with a letter or digit`,
    { details: { what, key } },
  );
}

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

/** A section with its text taken apart. */
export interface PreparedSection {
  /** Keys from the top: `parent/child`. */
  readonly path: string;
  readonly section: PromptSection;
  readonly parts: readonly TextPart[];
  readonly children: readonly PreparedSection[];
}

const MAX_DEPTH = 16;

/**
 * Checks sections and reads their placeholders.
 *
 * @throws CoxswainError "invalid-definition" when a key is malformed or not unique among its siblings, a placeholder
 *   is malformed, or sections lie more than 16 deep
 */
export function prepareSections(sections: readonly PromptSection[], parentPath = ''): readonly PreparedSection[] {
  if (parentPath.split('/').length > MAX_DEPTH) throw wrong(parentPath, `lies more than ${MAX_DEPTH} deep`);
  const keys = new Set<string>();
  return sections.map((section) => {
    const { key } = section;
    checkPromptKey('section key', key);
    const path = parentPath === '' ? key : `${parentPath}/${key}`;
    if (keys.has(key)) throw wrong(path, 'is there twice; give each sibling its own key');
    keys.add(key);
    const parts = parseTextParts(section.text.trim());
    if ('wrong' in parts) {
      throw wrong(
        path,
        `has ${JSON.stringify(parts.wrong)}, which is no placeholder; write \${name}, or $\${ for a literal \${`,
        {
          placeholder: parts.wrong,
        },
      );
    }
    const children = prepareSections(section.sections ?? [], path);
    const nested =
      section.sections === undefined ? {} : { sections: Object.freeze(children.map((child) => child.section)) };
    // A frozen copy, so that what was checked is what is rendered.
    return { path, section: Object.freeze({ ...section, ...nested }), parts, children };
  });
}

function wrong(section: string, message: string, details: Readonly<Record<string, unknown>> = {}): CoxswainError {
  return new CoxswainError('invalid-definition', `section "${section}" ${message}`, {
    details: { section, ...details },
  });
}
