// Defines the page's elements. Each enhances a block that already works as plain HTML; most are loaded later.

import { ContentsElement } from "./contents";
import { addCopyButtons } from "./copy";
import { focusFirstField } from "./first-field";
import { listenForKeys } from "./keys";
import { watchPage } from "./later";
import { listenForSearch } from "./search-door";
import { sendWaitingForm } from "./send-now";
import { ThemeElement } from "./theme";

addCopyButtons(document);
customElements.define("uw-theme", ThemeElement);
customElements.define("uw-contents", ContentsElement);
focusFirstField(document);
listenForKeys();
listenForSearch();
sendWaitingForm(document);
watchPage(document);
