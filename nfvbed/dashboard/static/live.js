// A part of a page that follows what runs: the server sends the part as it is now, and at the end the page is loaded
// again. The browser connects again by itself when the server was restarted.
"use strict";
for (const part of document.querySelectorAll("[data-events]")) {
  const events = new EventSource(part.dataset.events);
  events.addEventListener("part", (event) => {
    const focused = part.contains(document.activeElement) ? document.activeElement.className : "";
    part.innerHTML = JSON.parse(event.data);
    for (const log of part.querySelectorAll("pre.log")) {
      log.scrollTop = log.scrollHeight;
    }
    if (focused) {
      part.querySelector("." + CSS.escape(focused))?.focus({ preventScroll: true });
    }
  });
  events.addEventListener("end", () => {
    events.close();
    window.location.reload();
  });
}
