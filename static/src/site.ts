// Defines the page's elements. Each enhances a block that already works as plain HTML.

import { BankElement } from "./bank";
import { CellElement } from "./cell";
import { ContentsElement } from "./contents";
import { addCopyButtons } from "./copy";
import { CutsElement } from "./cuts";
import { GraphElement } from "./graph";
import { listenForKeys } from "./keys";
import { MeasureElement } from "./measure";
import { PlayElement } from "./play";
import { PlayerElement } from "./player";
import { PredictElement, QuestionElement } from "./question";
import { StepsElement } from "./steps";
import { SubmissionElement } from "./submission";
import { ThemeElement } from "./theme";

customElements.define("uw-graph", GraphElement);
customElements.define("uw-player", PlayerElement);
customElements.define("uw-predict", PredictElement);
customElements.define("uw-question", QuestionElement);
customElements.define("uw-cell", CellElement);
customElements.define("uw-measure", MeasureElement);
customElements.define("uw-cuts", CutsElement);
customElements.define("uw-steps", StepsElement);
customElements.define("uw-play", PlayElement);
customElements.define("uw-submission", SubmissionElement);
customElements.define("uw-bank", BankElement);
customElements.define("uw-theme", ThemeElement);
customElements.define("uw-contents", ContentsElement);
listenForKeys();
addCopyButtons(document);
