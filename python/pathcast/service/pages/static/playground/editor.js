// <xml-editor>: CodeMirror with its XML mode, in a shadow root so that its style sheets need no inline style.
import {
  Decoration, EditorState, EditorView, HighlightStyle, StateEffect, StateField, defaultKeymap, drawSelection,
  ensureSyntaxTree, history, historyKeymap, keymap, lineNumbers, syntaxHighlighting, tags, xml,
} from "../vendor/vendor.js";

const mark = StateEffect.define();
const hit = Decoration.mark({ class: "cm-hit" });
const wrong = Decoration.mark({ class: "cm-wrong" });

const marks = StateField.define({
  create: () => Decoration.none,
  update(known, transaction) {
    let found = known.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(mark)) found = effect.value;
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "13.5px" },
  ".cm-scroller": { fontFamily: "var(--mono)", overflow: "auto", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--soft)", border: "none" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent) !important" },
  ".cm-hit": { backgroundColor: "var(--hit)", borderRadius: "2px", boxShadow: "inset 0 -2px 0 var(--hit-edge)" },
  ".cm-wrong": { backgroundColor: "var(--bad-ground)", boxShadow: "inset 0 -2px 0 var(--bad)" },
});
const colours = syntaxHighlighting(HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--accent)" },
  { tag: tags.attributeName, color: "var(--good)" },
  { tag: tags.attributeValue, color: "var(--soft)" },
  { tag: [tags.comment, tags.processingInstruction, tags.documentMeta], color: "var(--soft)", fontStyle: "italic" },
]));

// Left to itself, Chromium replaces a selection of several lines through inline styles, which our policy forbids.
const replaces = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.composing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data));
    return true;
  },
});

class XmlEditor extends HTMLElement {
  connectedCallback() {
    if (this.view) return;
    const root = this.attachShadow({ mode: "open" });
    const changed = EditorView.updateListener.of((update) => {
      if (update.docChanged) this.dispatchEvent(new Event("input", { bubbles: true }));
      if (update.selectionSet) this.dispatchEvent(new CustomEvent("place", { detail: update.state.selection.main.head }));
    });
    this.view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        extensions: [
          lineNumbers(), history(), drawSelection(), xml(), marks, theme, colours, replaces, EditorView.lineWrapping, changed,
          keymap.of([...defaultKeymap, ...historyKeymap]), // Tab moves on: the keyboard is not caught
          EditorView.contentAttributes.of({ "aria-label": this.getAttribute("label"), spellcheck: "false" }),
        ],
      }),
    });
  }

  get value() {
    return this.view.state.doc.toString();
  }

  set value(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** The tree of the document, or what is known of it after 50 ms. */
  get tree() {
    return ensureSyntaxTree(this.view.state, this.view.state.doc.length, 50);
  }

  /** Mark ranges as matched. */
  hits(ranges) {
    const length = this.view.state.doc.length;
    const found = ranges.filter(([from, to]) => from < to && to <= length).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    this.view.dispatch({ effects: mark.of(Decoration.set(found.map(([from, to]) => hit.range(from, to)))) });
  }

  /** Mark the place where the document stops being XML. */
  fault(line, column) {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const from = Math.min(at.from + Math.max(column - 1, 0), Math.max(at.to - 1, at.from));
    if (from < at.to) this.view.dispatch({ effects: mark.of(Decoration.set([wrong.range(from, at.to)])) });
    else this.hits([]);
  }

  /** Bring a range into view and select it. */
  show([from, to]) {
    this.view.dispatch({ selection: { anchor: from, head: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    return [from, to];
  }
}

customElements.define("xml-editor", XmlEditor);
