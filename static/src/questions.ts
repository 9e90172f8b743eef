// Predictions and questions.

import { PredictElement, QuestionElement } from "./question";

export const definitions = [
  ["uw-predict", PredictElement],
  ["uw-question", QuestionElement],
] as const;
