import { safeText } from '../../core/base/printable.ts';

const SAFE: unique symbol = Symbol('html');

/** HTML created by the `html` template tag. All text in it is escaped. No other code can create this type, not even from parsed JSON. */
export interface Html {
  readonly [SAFE]: string;
}

/** A value in a template. Text is escaped, HTML is kept, `undefined` is empty, and a list is joined. */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Untrusted text is safe anywhere, also in quoted attributes: cleaned by `safeText`, then escaped. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = template[0] ?? '';
  for (const [index, value] of values.entries()) text += escaped(value) + (template[index + 1] ?? '');
  return { [SAFE]: text };
}

export function htmlText(part: Html): string {
  return part[SAFE];
}

/** Creates a `style` element. Browsers decode no entities in it. `css`: trusted, without `<`. */
export function styleElement(css: string): Html {
  return { [SAFE]: `<style>${css}</style>` };
}

function escaped(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return safeText(value).replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '');
  return SAFE in value ? value[SAFE] : value.map(escaped).join('');
}
