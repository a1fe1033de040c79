import { checkedOptions } from '../../base/checked-options.ts';
import type { ShapesOf } from '../../base/shape.ts';

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
  return Object.assign((options?: Options) => make(checkedOptions<Options>(shapes, options)), { options: shapes });
}
