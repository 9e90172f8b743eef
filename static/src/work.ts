// Cells, and the players and graphs that their runs fill.

import { CellElement } from "./cell";
import { GraphElement } from "./graph";
import { PlayerElement } from "./player";

export const definitions = [
  ["uw-graph", GraphElement],
  ["uw-player", PlayerElement],
  ["uw-cell", CellElement],
] as const;
