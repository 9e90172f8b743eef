// Predictions and questions, in chapters and in review.

import { PredictElement, QuestionElement } from "./question";
import { ReviewElement } from "./review";

export const definitions = [
  ["uw-predict", PredictElement],
  ["uw-question", QuestionElement],
  ["uw-review", ReviewElement],
] as const;
