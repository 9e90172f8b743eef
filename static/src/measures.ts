// Measurements with their charts, and walks through states.

import { MeasureElement } from "./measure";
import { StepsElement } from "./steps";

export const definitions = [
  ["uw-measure", MeasureElement],
  ["uw-steps", StepsElement],
] as const;
