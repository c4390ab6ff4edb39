// Figures that are touched, in the place of their pictures: values at hover, zoom with Shift and the wheel, dragging,
// variants that are left out, and a click that leads to Why. What cannot be drawn stays a picture.
"use strict";
(() => {
  const DRAWN = {
    ast: true, // Expressions are interpreted: the page's policy forbids code that is made of text.
    renderer: "svg", actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true }, logLevel: 1,
  };
  const MOST_TOGGLES = 24;
  let library;
  const loaded = () => library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/static/vega.js";
    script.onload = resolve;
    script.onerror = () => reject(new Error("the figures' libraries could not be loaded"));
    document.head.append(script);
  });

  const variantsOf = (spec) => [...new Set(Object.values(spec.datasets ?? {}).flat().map((record) => record.variant))]
    .filter((name) => name !== undefined);

  const without = (spec, hidden, leads) => {
    const copy = structuredClone(spec);
    for (const [name, records] of Object.entries(copy.datasets ?? {})) {
      copy.datasets[name] = records.filter((record) => !hidden.has(record.variant));
    }
    if (leads) {
      copy.config.mark = { ...copy.config.mark, cursor: "pointer" };
    }
    return copy;
  };

  // A mark stands for a row where one alone fits it.
  const rowOf = (rows, datum) => {
    let fitting = rows.filter((row) => row.variant === datum.variant);
    for (const fits of [
      (row) => datum.point === undefined || row.point === datum.point,
      (row) => datum.at === undefined || row.frame_size === datum.at,
      (row) => datum.panel === undefined || String(datum.panel).includes(row.topology),
      (row) => datum.place === undefined || row.place === datum.place,
    ]) {
      const narrowed = fitting.filter(fits);
      fitting = narrowed.length ? narrowed : fitting;
    }
    return fitting.length === 1 ? fitting[0] : undefined;
  };

  const toggles = (names, hidden, draw) => {
    const field = document.createElement("fieldset");
    field.className = "toggles";
    const legend = document.createElement("legend");
    legend.textContent = "Shown";
    field.append(legend);
    for (const name of names) {
      const label = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        hidden[box.checked ? "delete" : "add"](name);
        draw();
      });
      label.append(box, ` ${name}`);
      field.append(label);
    }
    return field;
  };

  const touch = async (figure) => {
    const answer = await fetch(figure.dataset.live);
    if (!answer.ok) {
      throw new Error(`the server answered ${answer.status}`);
    }
    const { spec, rows } = await answer.json();
    await loaded();
    const picture = figure.querySelector(".picture"), place = document.createElement("div"), hidden = new Set();
    place.className = "chart";
    let view;
    const draw = async () => {
      view?.finalize();
      const width = picture.clientWidth;
      const shown = nfvbedChart.fitted(nfvbedChart.themed(without(spec, hidden, rows.length)), width);
      view = (await vegaEmbed(place, shown, DRAWN)).view;
      place.querySelector("svg")?.setAttribute("aria-hidden", "true"); // The group has the words.
      view.addEventListener("click", (_, item) => {
        const row = item?.datum && rowOf(rows, item.datum);
        if (row) {
          window.location.assign(row.href);
        }
      });
      figure.dataset.drawn = "yes";
    };
    picture.append(place);
    try {
      await draw();
    } catch (error) {
      place.remove();
      throw error;
    }
    picture.querySelector("picture").remove();
    const names = variantsOf(spec);
    if (names.length > 1 && names.length <= MOST_TOGGLES) {
      picture.before(toggles(names, hidden, draw));
    }
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    let width = picture.clientWidth;
    new ResizeObserver(() => {
      if (picture.clientWidth && Math.abs(picture.clientWidth - width) > 20) {
        width = picture.clientWidth;
        draw();
      }
    }).observe(picture);
  };

  // Those that come into view; what is folded does when it is opened.
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) {
        seen.unobserve(target);
        touch(target).catch((error) => {
          target.dataset.drawn = "no";
          target.querySelector(".picture").title = `Not drawn to be touched: ${error.message}`;
        });
      }
    }
  }, { rootMargin: "600px" });
  document.querySelectorAll("figure[data-live]").forEach((figure) => seen.observe(figure));
})();
