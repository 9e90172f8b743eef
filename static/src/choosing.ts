// A question about a graph: a click on a node chooses it in the question's list, and a choice lights up the node.

/** `place` is the id of the block with the graph. */
export function joinGraph(question: HTMLElement, place: string | undefined): void {
  const graph = place ? document.getElementById(place)?.querySelector("uw-graph") : null;
  if (!graph) return;
  graph.addEventListener("uw-choose", (event) => choose(question, (event as CustomEvent<string>).detail));
  question.addEventListener("change", () => light(question, graph));
}

function choose(question: HTMLElement, node: string): void {
  const field = question.querySelector<HTMLInputElement>(`input[name="node"][value="${CSS.escape(node)}"]`);
  if (!field || field.disabled) return;
  field.checked = true;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus({ preventScroll: true });
}

/** Marks the node that the answer names, even in a picture that has not woken yet. */
function light(question: HTMLElement, graph: Element): void {
  const chosen = question.querySelector<HTMLInputElement>('input[name="node"]:checked');
  if (!chosen) return;
  for (const node of graph.querySelectorAll<SVGGElement>("g.node[data-node]")) {
    node.classList.toggle("is-chosen", node.dataset["node"] === chosen.value);
  }
}
