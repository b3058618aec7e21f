/** The text itself in CodeMirror, with the server's errors in the gutter and at the end of their lines. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  WidgetType,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

import type { Problem } from "@/api/configurationTypes";
import { styleNonce } from "@/app/styleNonce";

import { shortMessage } from "../words";
import classes from "./Yaml.module.css";

/** What is wrong with a line. */
export type Mark = Pick<Problem, "line" | "column" | "message" | "hint">;

interface YamlEditorProps {
  text: string;
  /** Whose text it is. */
  label: string;
  problems: readonly Mark[];
  /** What kube-scheduler would take without a word. */
  warnings: readonly Mark[];
  readOnly: boolean;
  /** A line to show; every new object goes there, the same line too. */
  goTo: { line: number } | null;
  onChange: (text: string) => void;
}

type Severity = "error" | "warning";

class Message extends WidgetType {
  readonly message: string;
  readonly severity: Severity;

  constructor(message: string, severity: Severity) {
    super();
    this.message = message;
    this.severity = severity;
  }

  override eq(other: Message): boolean {
    return other.message === this.message && other.severity === this.severity;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = classes.message ?? "";
    element.dataset.severity = this.severity;
    element.textContent = this.message;
    return element;
  }
}

/** The text came from the draft, not from the keyboard. */
const fromOutside = Annotation.define<boolean>();
const setMarks = StateEffect.define<DecorationSet>();
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (value, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return effect.value;
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--c-text)", fontWeight: "560" },
  { tag: tags.propertyName, color: "var(--c-text)", fontWeight: "560" },
  {
    tag: [tags.string, tags.number, tags.bool, tags.null, tags.content, tags.attributeValue],
    color: "var(--c-text-2)",
  },
  { tag: tags.comment, color: "var(--c-text-3)", fontStyle: "italic" },
]);

export default function YamlEditor({ text, label, problems, warnings, readOnly, goTo, onChange }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useRef(onChange);
  const writable = useRef(new Compartment());
  const initial = useRef({ text, label, readOnly });
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => {
    if (host.current === null) return undefined;
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: initial.current.text,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          yaml(),
          indentUnit.of("  "),
          syntaxHighlighting(colours),
          marks,
          writable.current.of(EditorState.readOnly.of(initial.current.readOnly)),
          EditorView.cspNonce.of(styleNonce()),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          EditorView.contentAttributes.of({
            "aria-label": initial.current.label,
            tabindex: "0",
            spellcheck: "false",
          }),
          EditorView.updateListener.of((update) => {
            if (
              update.docChanged &&
              update.transactions.some((transaction) => transaction.annotation(fromOutside) !== true)
            )
              change.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === text) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: text },
      annotations: fromOutside.of(true),
    });
  }, [text]);
  useEffect(() => {
    view.current?.dispatch({ effects: writable.current.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    const diagnostics: Diagnostic[] = [];
    const byLine = new Map<number, { severity: Severity; messages: string[] }>();
    const all = [
      ...problems.map((problem) => ({ problem, severity: "error" as const })),
      ...warnings.map((problem) => ({ problem, severity: "warning" as const })),
    ];
    for (const { problem, severity } of all) {
      if (problem.line === null || problem.line > doc.lines) continue;
      const line = doc.line(problem.line);
      const from = Math.min(line.to, line.from + Math.max(0, (problem.column ?? 1) - 1));
      diagnostics.push({
        from,
        to: Math.max(from, line.to),
        severity,
        message: problem.hint === "" ? problem.message : `${problem.message}. ${problem.hint}`,
      });
      const before = byLine.get(problem.line);
      const message = problem.hint === "" ? shortMessage(problem) : `${shortMessage(problem)}. ${problem.hint}`;
      byLine.set(problem.line, {
        severity: before?.severity ?? severity,
        messages: [...(before?.messages ?? []), message],
      });
    }
    const decorations = [...byLine]
      .sort(([one], [other]) => one - other)
      .flatMap(([number, { severity, messages }]) => {
        const line = doc.line(number);
        const lineClass = (severity === "error" ? classes.badLine : classes.oddLine) ?? "";
        return [
          Decoration.line({ class: lineClass }).range(line.from),
          Decoration.widget({ widget: new Message(messages.join(" · "), severity), side: 1 }).range(line.to),
        ];
      });
    editor.dispatch(
      setDiagnostics(
        editor.state,
        diagnostics.sort((one, other) => one.from - other.from),
      ),
      { effects: setMarks.of(Decoration.set(decorations, true)) },
    );
  }, [problems, warnings]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || goTo === null) return;
    const line = editor.state.doc.line(Math.min(Math.max(1, goTo.line), editor.state.doc.lines));
    editor.dispatch({ selection: { anchor: line.to }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
    editor.focus();
  }, [goTo]);
  return <div ref={host} className={classes.editor} />;
}
