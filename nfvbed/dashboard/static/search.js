// Search fields above a list of choices: what does not have all the words is left out, unless it is chosen.
"use strict";
for (const field of document.querySelectorAll("input[data-search]")) {
  const list = document.getElementById(field.dataset.search);
  const choices = [...list.querySelectorAll("label")];
  const none = document.createElement("p");
  none.role = "status";
  none.className = "meta";
  field.closest("p").after(none);
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const choice of choices) {
      const text = choice.textContent.toLowerCase();
      choice.hidden = !choice.querySelector("input").checked && !words.every((word) => text.includes(word));
    }
    none.textContent = choices.every((choice) => choice.hidden) ? "None has these words." : "";
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  field.closest("[hidden]")?.removeAttribute("hidden");
}
