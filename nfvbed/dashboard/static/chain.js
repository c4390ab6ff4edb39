// Orders the VNFs of a chain on the page, by drag and by buttons; nothing is sent until the order is applied.
"use strict";

const chain = document.getElementById("chain");
if (chain) {
  const now = chain.dataset.now;
  const said = document.getElementById("said");
  const apply = document.getElementById("apply");
  const names = () => [...chain.children].map((item) => item.dataset.vnf);

  // The buttons hold the order that they lead to, as without this script.
  function refresh() {
    const order = names();
    [...chain.children].forEach((item, place) => {
      for (const button of item.querySelectorAll("button")) {
        const other = place + Number(button.dataset.by);
        button.disabled = other < 0 || other >= order.length;
        const moved = [...order];
        if (!button.disabled) [moved[place], moved[other]] = [moved[other], moved[place]];
        button.value = button.disabled ? "" : moved.join(",");
      }
    });
    apply.elements.order.value = order.join(",");
    document.getElementById("apply-button").disabled = order.join(",") === now;
    const address = new URL(location.href);
    address.search = new URLSearchParams({ site: apply.elements.site.value, order: order.join(",") });
    address.hash = "";
    history.replaceState(null, "", address);
  }

  function tell(vnf) {
    const order = names();
    const place = `${vnf} is number ${order.indexOf(vnf) + 1} of ${order.length}`;
    const state = order.join(",") === now ? "as it is now" : "not applied yet";
    said.textContent = `${place}: ${order.join(", ")}; ${state}.`;
  }

  chain.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-by]");
    if (!button || button.disabled) return;
    event.preventDefault();
    const item = button.closest("li");
    if (button.dataset.by === "-1") item.previousElementSibling.before(item);
    else item.nextElementSibling.after(item);
    refresh();
    // A button that is disabled now cannot keep the focus.
    (button.disabled ? item.querySelector("button:not(:disabled)") : button).focus();
    tell(item.dataset.vnf);
  });

  let dragged = null;
  chain.addEventListener("pointerdown", (event) => {
    const item = event.target.closest("li");
    if (!item || event.button !== 0 || event.target.closest("button")) return;
    event.preventDefault();
    dragged = item;
    item.classList.add("dragged");
    chain.setPointerCapture(event.pointerId);
  });
  chain.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const middle = (item) => item.getBoundingClientRect().top + item.offsetHeight / 2;
    const below = [...chain.children].find((item) => item !== dragged && event.clientY < middle(item));
    if (below) below.before(dragged);
    else chain.append(dragged);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    chain.addEventListener(kind, () => {
      if (!dragged) return;
      dragged.classList.remove("dragged");
      const vnf = dragged.dataset.vnf;
      dragged = null;
      refresh();
      tell(vnf);
    });
  }
}
