function n(){let e=document.querySelector("script[data-opened]")?.dataset.opened;return e?{"X-Unwind-Opened":e}:{}}export{n as a};
