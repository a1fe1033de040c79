import { CoxswainError } from '../../base/error.ts';
import { parseTextParts, type TextPart } from './placeholders.ts';
import { checkPromptKey } from './prompt-key.ts';
import type { PromptSection } from './prompt-section.ts';

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
