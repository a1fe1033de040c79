import { isJsonObject } from '../../core/base/json.ts';
import { useContext, type ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import { FoldedTextContext } from './folded-text.tsx';
import { safeImage, safeLine } from './safe-text.ts';
import type { ShownPicture } from '../server/picture-of.ts';
import { isCut } from './text-of.ts';

export function Picture(props: { readonly picture: ShownPicture; readonly seq: number }): ReactElement {
  const { fetchWhole } = useContext(FoldedTextContext);
  const { data, mediaType } = props.picture;
  const kind = safeLine(String(mediaType)).slice(0, 60);
  if (isCut(data)) {
    return (
      <p>
        <button type="button" className="link" onClick={() => void fetchWhole(props.seq)}>
          Show the image ({kind})
        </button>
      </p>
    );
  }
  const source = safeImage(mediaType, data);
  if (source === undefined) {
    // Most records contain only the size and digest of a picture, not its data.
    const bytes =
      isJsonObject(data) && typeof data['bytes'] === 'number' ? ` and ${countText(data['bytes'])} bytes` : '';
    return (
      <p className="dim">
        An image of kind {kind}
        {bytes}, which is not shown.
      </p>
    );
  }
  return <img src={source} alt={`Of kind ${kind}, as the agent saw it`} decoding="async" />;
}
