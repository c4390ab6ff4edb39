// What a figure is drawn with: the page's colours, and the width that there is. The page's own script comes after it.
const nfvbedChart = (() => {
  const themed = (spec) => {
    const style = getComputedStyle(document.documentElement);
    const fg = style.getPropertyValue("--fg").trim(), soft = style.getPropertyValue("--soft").trim();
    const line = style.getPropertyValue("--line").trim();
    const hatch = style.getPropertyValue("--hatch").trim();
    const copy = JSON.parse(JSON.stringify(spec).replaceAll("#ffffffb0", hatch));
    delete copy.title;  // is above the figure, as text of the page
    const words = {labelColor: fg, titleColor: soft};
    const config = copy.config;
    config.axis = {...config.axis, ...words, gridColor: line, domainColor: soft, tickColor: soft, labelSeparation: 6};
    config.header = {...config.header, ...words};
    config.legend = {...config.legend, ...words};
    config.title = {...config.title, color: fg};  // of the panels
    config.text = {color: fg};
    config.rule = {color: fg};
    return copy;
  };
  // A legend in one line is wider than a narrow figure, and would make all of it smaller.
  const stackLegends = (part) => {
    for (const [name, value] of Object.entries(part ?? {})) {
      if (name === "legend" && value) value.columns = 1;
      else if (value && typeof value === "object" && name !== "datasets" && name !== "data") stackLegends(value);
    }
  };
  const WIDEST = 1100, NARROW = 760, SMALLEST = 150;
  const fitted = (spec, width) => {
    const {margin, columns} = spec.usermeta;
    const beside = width < NARROW ? 1 : columns;
    const inner = Math.max(SMALLEST, Math.floor(Math.min(width, WIDEST) / beside) - margin);
    for (const panel of spec.concat || [spec.spec || spec]) panel.width = inner;
    if (spec.columns) spec.columns = beside;
    if (width < NARROW) stackLegends(spec);
    return spec;
  };
  return {themed, fitted};
})();
