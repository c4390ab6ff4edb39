(() => {
  const specs = JSON.parse(document.getElementById("figures-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const options = {renderer: "svg", actions: false, logLevel: 1};  // 1: errors only
  const draw = () => Promise.all(Object.entries(specs).map(([name, spec]) => {
    const place = document.getElementById("figure-" + name);
    return vegaEmbed(place, nfvbedChart.fitted(nfvbedChart.themed(spec), place.clientWidth), options);
  }));
  // The figure's box carries the description; its thousand marks would only be noise to a screen reader.
  const done = () => {
    document.querySelectorAll(".chart svg").forEach((svg) => svg.setAttribute("aria-hidden", "true"));
    document.documentElement.dataset.figures = "drawn";
  };
  draw().then(done);
  dark.addEventListener("change", () => draw().then(done));
  let last = window.innerWidth, timer;
  window.addEventListener("resize", () => {
    if (window.innerWidth === last) return;
    last = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => draw().then(done), 200);
  });
})();
