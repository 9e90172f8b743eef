// The code editor, a separate bundle: CodeMirror with Python, loaded when a cell comes near the window.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, ensureSyntaxTree, indentOnInput, indentUnit, LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { EditorState, type Extension, type Range, StateEffect, StateField } from "@codemirror/state";
import {
  type Command,
  Decoration,
  type DecorationSet,
  EditorView,
  drawSelection,
  keymap,
  lineNumbers,
  WidgetType,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { Pad, PadEvents } from "./pad";
import { offsetOf, type Span } from "./spans";

/** A parse that takes longer is given up; the server parses the text anyway. */
const PARSE_MS = 20;

class Note extends WidgetType {
  constructor(private readonly words: string) {
    super();
  }

  override eq(other: Note): boolean {
    return other.words === this.words;
  }

  override toDOM(): HTMLElement {
    const note = document.createElement("span");
    note.className = "cm-mistake-note";
    note.textContent = this.words;
    return note;
  }
}

const setMistake = StateEffect.define<{ line: number; note: string } | null>();
const setLit = StateEffect.define<readonly Span[]>();

function field(apply: (marks: DecorationSet, state: EditorState, effect: StateEffect<unknown>) => DecorationSet): Extension {
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(marks, transaction) {
      const moved = marks.map(transaction.changes);
      return transaction.effects.reduce((now, effect) => apply(now, transaction.state, effect), moved);
    },
    provide: (self) => EditorView.decorations.from(self),
  });
}

const mistakes = field((marks, state, effect) => {
  if (!effect.is(setMistake)) return marks;
  const { line, note } = effect.value ?? { line: 0, note: "" };
  if (line < 1 || line > state.doc.lines) return Decoration.none;
  const at = state.doc.line(line);
  const place = Decoration.line({ class: "cm-mistake" }).range(at.from);
  const words = Decoration.widget({ widget: new Note(note), side: 1 }).range(at.to);
  return Decoration.set([place, words]);
});

const lit = field((marks, state, effect) => {
  if (!effect.is(setLit)) return marks;
  const lines = state.doc.toString().split("\n");
  const ranges: Range<Decoration>[] = [];
  for (const span of effect.value) {
    const from = offsetOf(lines, span.line, span.column);
    const to = Math.min(offsetOf(lines, span.endLine, span.endColumn), state.doc.length);
    if (from < to) ranges.push(Decoration.mark({ class: "cm-lit" }).range(from, to));
  }
  return Decoration.set(ranges, true);
});

function keys(events: PadEvents): Extension {
  const run = (): boolean => (events.run(), true);
  const goOn = (): boolean => (events.runAndGoOn(), true);
  const submit = (): boolean => (events.submit?.(), events.submit !== undefined);
  return keymap.of([
    { key: "Mod-Shift-Enter", run: submit },
    { key: "Ctrl-Shift-Enter", run: submit },
    { key: "Mod-Enter", run },
    { key: "Ctrl-Enter", run },
    { key: "Shift-Enter", run: goOn },
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...historyKeymap,
  ]);
}

/** Tab moves through the page until the reader types here. From then on it indents, until they leave. */
function tabbing(): Extension {
  let types = false;
  const indent = (command: Command) => (view: EditorView): boolean => types && command(view);
  return [
    keymap.of([{ key: "Tab", run: indent(indentMore), shift: indent(indentLess) }]),
    EditorView.domEventHandlers({ blur: () => void (types = false) }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && update.view.hasFocus) types = true;
    }),
  ];
}

/** While the editor has the focus, shows under it how to leave it with the keyboard. */
function addHint(source: HTMLTextAreaElement): string {
  if (source.readOnly) return "";
  const hint = document.createElement("p");
  hint.className = "pad-hint";
  hint.id = `${source.id}-hint`;
  hint.textContent = "Tab indents once you type. Esc, then Tab leaves the editor.";
  source.after(hint);
  return hint.id;
}

function pointing(events: PadEvents): Extension {
  const tell = (view: EditorView, position: number | null): void => {
    if (position === null) return events.pointed(null);
    const line = view.state.doc.lineAt(position);
    events.pointed({ line: line.number, column: [...line.text.slice(0, position - line.from)].length });
  };
  return [
    EditorView.domEventHandlers({
      mousemove: (event, view) => tell(view, view.posAtCoords({ x: event.clientX, y: event.clientY })),
      mouseleave: (_event, view) => tell(view, null),
      blur: (_event, view) => tell(view, null),
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) events.changed();
      else if (update.selectionSet && update.view.hasFocus) tell(update.view, update.state.selection.main.head);
    }),
  ];
}

/** Typing over a selection. Left to the browser, it would keep the old colours in a style attribute, which the policy forbids. */
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main, ranges } = view.state.selection;
    const text = event.data;
    if (event.inputType !== "insertText" || event.isComposing || view.state.readOnly || !text || main.empty || ranges.length > 1) return false;
    const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handled = view.state.facet(EditorView.inputHandler).some((handler) => handler(view, main.from, main.to, text, insert));
    if (!handled) view.dispatch(insert());
    return true;
  },
});

function extensions(source: HTMLTextAreaElement, events: PadEvents, nonce: string): Extension {
  const label = source.labels?.[0]?.textContent?.trim() ?? "Python code";
  const hint = addHint(source);
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    history(),
    drawSelection(),
    indentUnit.of("    "),
    EditorState.tabSize.of(4),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    // Only the language, because its completions would add more code than a lesson needs.
    new LanguageSupport(pythonLanguage),
    syntaxHighlighting(classHighlighter),
    mistakes,
    lit,
    keys(events),
    tabbing(),
    typeOver,
    pointing(events),
    EditorState.readOnly.of(source.readOnly),
    EditorView.contentAttributes.of({
      "aria-label": label,
      autocapitalize: "off",
      spellcheck: "false",
      tabindex: "0",
      ...(source.readOnly ? { "aria-readonly": "true" } : {}),
      ...(hint ? { "aria-describedby": hint } : {}),
    }),
    EditorView.updateListener.of((update) => {
      // The textarea keeps the text, so that the form can still be posted without this script.
      if (update.docChanged) source.value = update.state.doc.toString();
    }),
  ];
}

class CodePad implements Pad {
  constructor(private readonly view: EditorView) {}

  text(): string {
    return this.view.state.doc.toString();
  }

  replace(text: string): void {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  insert(text: string): void {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.view.focus();
  }

  focus(): void {
    this.view.focus();
  }

  markLine(line: number, note: string): void {
    this.view.dispatch({ effects: setMistake.of({ line, note }) });
  }

  clearMarks(): void {
    this.view.dispatch({ effects: setMistake.of(null) });
  }

  isWhole(): boolean {
    const tree = ensureSyntaxTree(this.view.state, this.view.state.doc.length, PARSE_MS);
    let whole = true;
    tree?.iterate({ enter: (node) => (whole &&= !node.type.isError) });
    return whole;
  }

  caretLine(): number {
    const { state, hasFocus } = this.view;
    return hasFocus ? state.doc.lineAt(state.selection.main.head).number : 0;
  }

  light(spans: readonly Span[], follows: boolean): void {
    this.view.dispatch({ effects: setLit.of(spans) });
    const line = spans[0]?.line ?? 0;
    if (!follows || line < 1 || line > this.view.state.doc.lines) return;
    // The editor's scrolling would also move the page.
    const { scrollDOM, state } = this.view;
    const { top, bottom } = this.view.lineBlockAt(state.doc.line(line).from);
    if (top < scrollDOM.scrollTop) scrollDOM.scrollTop = top;
    else if (bottom > scrollDOM.scrollTop + scrollDOM.clientHeight) scrollDOM.scrollTop = bottom - scrollDOM.clientHeight + (bottom - top);
  }
}

/** Replaces the textarea by an editor with the same text, selection and focus. */
export function mountEditor(source: HTMLTextAreaElement, events: PadEvents, nonce: string): Pad {
  const hadFocus = document.activeElement === source;
  const end = source.value.length;
  const view = new EditorView({
    state: EditorState.create({
      doc: source.value,
      selection: { anchor: Math.min(source.selectionStart, end), head: Math.min(source.selectionEnd, end) },
      extensions: extensions(source, events, nonce),
    }),
  });
  source.after(view.dom);
  source.hidden = true;
  if (hadFocus) view.focus();
  return new CodePad(view);
}
