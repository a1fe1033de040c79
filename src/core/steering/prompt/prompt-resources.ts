import { invalidArgument, invalidDefinition } from '../../base/error.ts';

/** A resource and its value. Call the resource to create it: `Filesystem(disk)`. */
export interface ResourceBinding {
  readonly resource: ResourceIdentity;
  readonly value: unknown;
}

/** Resources are compared by reference. The name is used in messages. */
export interface ResourceIdentity {
  readonly resourceName: string;
}

/** A typed key. Call it to bind a value. Pass it to `get` to read the value. */
export interface Resource<Value> extends ResourceIdentity {
  (value: Value): ResourceBinding;
}

export interface PromptResources {
  /** @throws CoxswainError "invalid-argument" if `resource` is not bound */
  get<Value>(resource: Resource<Value>): Value;
  /** Returns undefined if `resource` is not bound. */
  getOptional<Value>(resource: Resource<Value>): Value | undefined;
}

/** Defines a resource: `const Tracker = defineResource<IssueTracker>('tracker')`. Names need not be unique. */
export function defineResource<Value>(name: string): Resource<Value> {
  const resource: Resource<Value> = Object.freeze(
    Object.assign((value: Value): ResourceBinding => ({ resource, value }), { resourceName: name }),
  );
  return resource;
}

/** @throws CoxswainError "invalid-definition" if a resource is bound twice */
export function createPromptResources(bindings: readonly ResourceBinding[]): PromptResources {
  const values = new Map<ResourceIdentity, unknown>();
  for (const { resource, value } of bindings) {
    if (values.has(resource)) {
      const { resourceName } = resource;
      throw invalidDefinition(`resource "${resourceName}" is bound twice; bind it once`, { resource: resourceName });
    }
    values.set(resource, value);
  }
  // A binding can be created only by calling the resource with a `Value`.
  const getOptional = <Value>(resource: Resource<Value>): Value | undefined =>
    values.get(resource) as Value | undefined;
  return Object.freeze({
    getOptional,
    get<Value>(resource: Resource<Value>): Value {
      const value = getOptional(resource);
      if (value !== undefined) return value;
      throw invalidArgument(
        `no resource "${resource.resourceName}" on this prompt; bind it in definePrompt({ resources }) or use getOptional`,
        { details: { resource: resource.resourceName } },
      );
    },
  });
}

/** Read-only access to the agent's files. */
export interface Filesystem {
  /** True if there is a file or folder at `path`, in the agent's notation, within microseconds. If it throws, a fault is recorded. */
  exists(path: string): boolean;
}

/** The resource of a prompt's files: `resources: [Filesystem({ exists: existsSync })]`. */
export const Filesystem: Resource<Filesystem> = defineResource<Filesystem>('filesystem');
