// A part of a page that takes long to make: the page comes first, and the part when it is made.
"use strict";
for (const part of document.querySelectorAll("[data-fill]")) {
  part.querySelector("[role=status]").textContent = "Working out what this host's newest runs recommend ...";
  fetch(part.dataset.fill, { headers: { accept: "text/html" } })
    .then(async (answer) => {
      if (!answer.ok) {
        throw new Error(`the server answered ${answer.status}`);
      }
      part.innerHTML = await answer.text();
    })
    .catch((error) => {
      part.querySelector("[role=status]").textContent = `Not worked out: ${error.message}. Load the page again.`;
    });
}
