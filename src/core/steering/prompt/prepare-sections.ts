import { CoxswainError } from '../../base/error.ts';
import { isDefinitionName } from '../../session/definition-name.ts';
import type { PromptSection } from './prompt.ts';

/** @throws CoxswainError "invalid-definition" if `key` does not match `^[a-z0-9][a-z0-9._-]{0,63}$` */
export function checkPromptKey(noun: string, key: string): void {
  if (isDefinitionName(key) && !key.includes('/')) return;
  throw new CoxswainError(
    'invalid-definition',
    `${noun} ${JSON.stringify(key)} must be 1 to 64 of a-z, 0-9, ".", "_", "-", beginning with a letter or digit`,
    { details: { what: noun, key } },
  );
}

export type TextPart = { readonly literal: string } | { readonly placeholder: string };

/** Matches the escape `$${`, or `${…}`, closed or not. */
const MARK = /\$\$\{|\$\{([^}]*)(\}?)/g;
const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

export function isParamName(name: string): boolean {
  return PARAM_NAME.test(name);
}

/** Parses `${placeholders}`. `$${` is a literal `${`. Returns the parts, or the malformed placeholder. */
function parseTextParts(text: string): readonly TextPart[] | { readonly wrong: string } {
  const parts: TextPart[] = [];
  let start = 0;
  for (const match of text.matchAll(MARK)) {
    const [mark, name, close] = match;
    parts.push({ literal: text.slice(start, match.index) });
    start = match.index + mark.length;
    if (name === undefined) {
      parts.push({ literal: '${' });
      continue;
    }
    if (close !== '}' || !isParamName(name)) return { wrong: mark.slice(0, 40) };
    parts.push({ placeholder: name });
  }
  parts.push({ literal: text.slice(start) });
  return parts;
}

/** A section with its text parsed. */
export interface PreparedSection {
  /** `parent/child`. */
  readonly path: string;
  readonly section: PromptSection;
  readonly parts: readonly TextPart[];
  readonly children: readonly PreparedSection[];
}

const MAX_DEPTH = 16;

/**
 * Checks sections and parses their placeholders.
 *
 * @throws CoxswainError "invalid-definition" if a key is malformed or duplicate, a placeholder is malformed, or sections
 *   are nested more than 16 deep
 */
export function prepareSections(sections: readonly PromptSection[], parentPath = ''): readonly PreparedSection[] {
  if (parentPath.split('/').length > MAX_DEPTH)
    throw invalidSection(parentPath, `is nested more than ${MAX_DEPTH} deep`);
  const keys = new Set<string>();
  return sections.map((section) => {
    const { key } = section;
    checkPromptKey('section key', key);
    const path = parentPath === '' ? key : `${parentPath}/${key}`;
    if (keys.has(key)) throw invalidSection(path, 'occurs twice; give each sibling its own key');
    keys.add(key);
    const parts = parseTextParts(section.text.trim());
    if ('wrong' in parts) {
      throw invalidSection(
        path,
        `has ${JSON.stringify(parts.wrong)}, which is not a placeholder; write \${name}, or $\${ for a literal \${`,
        {
          placeholder: parts.wrong,
        },
      );
    }
    const children = prepareSections(section.sections ?? [], path);
    const nestedSections =
      section.sections === undefined ? {} : { sections: Object.freeze(children.map((child) => child.section)) };
    // The section is copied and frozen, so that a later change of the definition has no effect.
    return { path, section: Object.freeze({ ...section, ...nestedSections }), parts, children };
  });
}

function invalidSection(
  section: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CoxswainError {
  return new CoxswainError('invalid-definition', `section "${section}" ${message}`, {
    details: { section, ...details },
  });
}
