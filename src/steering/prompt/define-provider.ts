import { foundText, expectedText, fitsShape } from '../../base/describe-shape.ts';
import { CoxswainError } from '../../base/error.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Shape, ShapesOf } from '../../base/shape.ts';

/**
 * Creates a provider, observer or classifier from options. The property `options` contains the shape and default of each
 * option.
 */
export interface ProviderDefinition<Options extends object, Made> {
  /** @throws CoxswainError "invalid-definition" if an option is unknown or does not match its shape */
  (options?: Options): Made;
  readonly options: ShapesOf<Options>;
}

/**
 * Defines a built-in provider, observer or classifier. Its defaults and ranges are defined only by the shapes. The
 * configuration, its schema and the tables in the docs also read the shapes.
 *
 * @param make  called with every option that has a value or a default
 */
export function defineProvider<Options extends object, Made>(
  shapes: ShapesOf<NoInfer<Options>>,
  make: (options: Required<Options>) => Made,
): ProviderDefinition<Options, Made> {
  const define = (options?: Options): Made => {
    const values: Readonly<Record<string, unknown>> = { ...options };
    for (const name of Object.keys(values)) if (!Object.hasOwn(shapes, name)) throw unknownOption(name, shapes);
    const entries = Object.entries<Shape>(shapes).map(([name, shape]) => [name, optionOf(name, values[name], shape)]);
    // Every option is present. The type of an option without a default includes undefined.
    return make(Object.fromEntries(entries) as Required<Options>);
  };
  return Object.assign(define, { options: shapes });
}

function unknownOption(option: string, shapes: object): CoxswainError {
  const names = Object.keys(shapes);
  const nearest = nearestName(option, names);
  const hint = nearest === undefined ? `the options are ${names.join(', ')}` : `did you mean ${nearest}?`;
  const message = `there is no option ${option.slice(0, 64)}; ${names.length === 0 ? 'there are no options' : hint}`;
  return new CoxswainError('invalid-definition', message, { details: { option } });
}

function optionOf(name: string, value: unknown, shape: Shape): unknown {
  if (value === undefined) return 'default' in shape ? shape.default : undefined;
  if (fitsShape(value, shape)) return value;
  throw new CoxswainError('invalid-definition', `${name} must be ${expectedText(shape)}, got ${foundText(value)}`, {
    details: { option: name },
  });
}
