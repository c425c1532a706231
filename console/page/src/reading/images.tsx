// Images whose bytes were recorded (`capture_media`). An address is never asked for: only what the
// record itself holds is shown, and only as the types of pictures that run nothing.
import { useMemo, useState } from "preact/hooks";
import { bytes } from "../parts/numbers";
import { Missing } from "../parts/states";
import { plain } from "../parts/text";

interface Image {
  readonly type: string;
  readonly base64: string;
}

const TYPES = /^image\/(png|jpeg|gif|webp|avif)$/;
const URL_OF_BYTES = /^data:(image\/\w+);base64,/;
const BASE64 = /^[A-Za-z0-9+/]{16,}={0,2}$/;

/** The images in a list of content blocks, as the GenAI conventions, Anthropic, OpenAI and MCP
 * write them. */
export function imagesIn(blocks: unknown): Image[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: unknown) => {
    const { source, image_url, ...own } = asFields(block);
    const from = { ...own, ...asFields(source) };
    const url = from.url ?? asFields(image_url).url ?? image_url;
    const [head = "", type = ""] = typeof url === "string" ? (URL_OF_BYTES.exec(url) ?? []) : [];
    const image = {
      type: type || String(from.mime_type ?? from.media_type ?? from.mimeType ?? ""),
      base64: head ? String(url).slice(head.length) : String(from.data ?? from.content ?? ""),
    };
    return TYPES.test(image.type) && BASE64.test(image.base64) ? [image] : [];
  });
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function Picture({ image: { type, base64 } }: { image: Image }) {
  const [failed, setFailed] = useState(false);
  const address = useMemo(() => `data:${type};base64,${base64}`, [type, base64]);
  const words = `${plain(type)}, ${bytes((base64.length * 3) / 4)}`;
  if (failed) return <Missing reason={`[${words}: it cannot be shown]`} />;
  return (
    <figure class="picture">
      <img src={address} alt="" loading="lazy" onError={() => setFailed(true)} />
      <figcaption class="faint">{words}</figcaption>
    </figure>
  );
}
