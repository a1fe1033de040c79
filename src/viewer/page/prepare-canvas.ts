/** A drawing surface. */
export interface Canvas {
  readonly context: CanvasRenderingContext2D;
  readonly widthPx: number;
  /** Returns the value of a colour variable of the style sheet. */
  readonly colour: (name: string) => string;
}

/** Sets the resolution of a canvas to that of the screen. Undefined without a canvas. */
export function prepareCanvas(canvas: HTMLCanvasElement | null, height: number): Canvas | undefined {
  const context = canvas?.getContext('2d');
  if (canvas === null || context === null || context === undefined) return undefined;
  const widthPx = canvas.clientWidth;
  const ratio = devicePixelRatio;
  if (canvas.width !== Math.round(widthPx * ratio)) canvas.width = Math.round(widthPx * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const colour = (name: string): string => {
    const value = colours.get(name) ?? style.getPropertyValue(name).trim();
    colours.set(name, value);
    return value;
  };
  return { context, widthPx, colour };
}
