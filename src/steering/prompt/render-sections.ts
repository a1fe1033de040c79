import { CoxswainError } from '../../base/error.ts';
import type { PreparedSection } from './prepare-sections.ts';
import type { SectionContext } from './prompt-section.ts';
import type { RenderedPrompt } from './prompt.ts';

/** Markdown knows six levels of headings; the first is left to the document around the prompt. */
const TOP_HEADING = 2;
const LAST_HEADING = 6;

/** Renders what is enabled; guidance comes last. @throws CoxswainError "invalid-argument" as `Prompt.render` */
export function renderSections(sections: readonly PreparedSection[], context: SectionContext): RenderedPrompt {
  const blocks: string[] = [];
  const keys: string[] = [];
  const walk = (level: readonly PreparedSection[], heading: number): void => {
    for (const prepared of level) {
      if (!isEnabled(prepared, context)) continue;
      keys.push(prepared.path);
      const { title } = prepared.section;
      if (title !== undefined) blocks.push(`${'#'.repeat(Math.min(heading, LAST_HEADING))} ${title}`);
      blocks.push(fill(prepared, context));
      walk(prepared.children, heading + 1);
    }
  };
  walk(sections, TOP_HEADING);
  blocks.push(...context.guidance.map((guidance) => guidance.content));
  return { text: blocks.filter((block) => block !== '').join('\n\n'), sections: keys };
}

function isEnabled({ section, path }: PreparedSection, context: SectionContext): boolean {
  if (section.enabled === undefined) return true;
  try {
    return section.enabled(context);
  } catch (cause) {
    throw new CoxswainError('invalid-argument', `section "${path}": enabled(context) threw; see the cause`, {
      details: { section: path },
      cause,
    });
  }
}

function fill({ parts, path }: PreparedSection, { params }: SectionContext): string {
  return parts
    .map((part) => {
      if ('literal' in part) return part.literal;
      const value = Object.hasOwn(params, part.placeholder) ? params[part.placeholder] : undefined;
      if (value !== undefined) return String(value);
      throw new CoxswainError(
        'invalid-argument',
        `section "${path}" needs the parameter "${part.placeholder}"; pass it to render({ ${part.placeholder}: … })`,
        { details: { section: path, placeholder: part.placeholder } },
      );
    })
    .join('');
}
