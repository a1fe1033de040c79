import { foundText, expectedText, fitsShape } from '../../base/describe-shape.ts';
import { CoxswainError } from '../../base/error.ts';
import type { Shape, ShapesOf } from '../../base/shape.ts';

/** Makes a provider, an observer or a classifier of options, and has the shape of each option, with its default. */
export interface ProviderDefinition<Options extends object, Made> {
  /** @throws CoxswainError "invalid-definition" when an option is not of its shape */
  (options?: Options): Made;
  readonly options: ShapesOf<Options>;
}

/**
 * Defines a built-in provider, observer or classifier. The shapes are the one place of its defaults and ranges: the
 * configuration, its schema and the tables of the documents read them too.
 *
 * @param make  gets every option that was given or has a default
 */
export function defineProvider<Options extends object, Made>(
  shapes: ShapesOf<Options>,
  make: (options: Required<Options>) => Made,
): ProviderDefinition<Options, Made> {
  const define = (given: Options | undefined): Made => {
    const said: Readonly<Record<string, unknown>> = { ...given };
    const entries = Object.entries<Shape>(shapes).map(([name, shape]) => [name, optionOf(name, said[name], shape)]);
    // Every option is there: the type of one whose shape has no default includes undefined.
    return make(Object.fromEntries(entries) as Required<Options>);
  };
  return Object.assign((options?: Options) => define(options), { options: shapes });
}

function optionOf(name: string, value: unknown, shape: Shape): unknown {
  if (value === undefined) return 'default' in shape ? shape.default : undefined;
  if (fitsShape(value, shape)) return value;
  throw new CoxswainError('invalid-definition', `${name} must be ${expectedText(shape)}, got ${foundText(value)}`, {
    details: { option: name },
  });
}
