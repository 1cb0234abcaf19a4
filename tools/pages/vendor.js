// Everything that the pages use of other people's code, under the names that they use.
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { xml } from "@codemirror/lang-xml";
export { HighlightStyle, ensureSyntaxTree, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
export { tags } from "@lezer/highlight";
export { default as uPlot } from "uplot";
