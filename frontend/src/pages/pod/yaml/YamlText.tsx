/** CodeMirror, read-only, in our colours. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { yaml } from "@codemirror/lang-yaml";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

import { styleNonce } from "@/app/styleNonce";

import classes from "./YamlDrawer.module.css";

const look = EditorView.theme({
  "&": { color: "var(--c-text)", backgroundColor: "transparent" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "19px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--c-text-3)", border: "0" },
  "&.cm-focused": { outline: "none" },
  ".cm-content:focus-visible": { outline: "2px solid var(--c-focus)", outlineOffset: "-2px" },
});
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--c-text)", fontWeight: "600" },
  { tag: [tags.string, tags.content], color: "var(--c-text-2)" },
  { tag: tags.comment, color: "var(--c-text-3)" },
]);

export function YamlText({ text, label }: { text: string; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return undefined;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          yaml(),
          lineNumbers(),
          syntaxHighlighting(colours),
          look,
          EditorView.cspNonce.of(styleNonce()),
          EditorState.readOnly.of(true),
          EditorView.lineWrapping,
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        ],
      }),
    });
    return () => editor.destroy();
  }, [text, label]);
  return <div ref={place} className={classes.text} />;
}
