"use strict";
// The values of pictures. Over each svg.chart[data-read] a cross follows the pointer, the finger or the arrow keys, and a
// box shows the values there. readings in chart's Go writes data-read. Other scripts use window.tidemark: show(title, rows,
// x, y), hide(), decimal(number, digits); and for pictures that they draw anew focusable(element) and again().
(() => {
  const near = 7; // pixels to a mark that is read
  const known = new WeakMap(); // readings by their element
  const box = document.createElement("div");
  box.className = "readout";
  box.hidden = true;
  let cross = null, last = null;

  // decimal groups thousands by a narrow space, as page.Number does.
  const decimal = (x, digits) => {
    const text = Math.abs(x).toFixed(Math.min(Math.max(digits, 0), 20)), [whole, part] = text.split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return (x < 0 && +text !== 0 ? "-" : "") + grouped + (part === undefined ? "" : "." + part);
  };

  const clocks = new Map();
  function moment(seconds, zone) {
    if (!clocks.has(zone)) {
      const form = timeZone => new Intl.DateTimeFormat("sv-SE", {timeZone, dateStyle: "short", timeStyle: "short"});
      try { clocks.set(zone, form(zone)); } catch { clocks.set(zone, form("UTC")); }
    }
    return clocks.get(zone).format(seconds * 1000);
  }

  // reading parses the values of a picture once.
  function reading(svg) {
    if (known.has(svg)) return known.get(svg);
    const all = JSON.parse(svg.dataset.read);
    if (all.zone) for (const p of all.panels) for (const s of p.series) for (let i = 1; i < s.x.length; i++) s.x[i] += s.x[i - 1];
    known.set(svg, all);
    return all;
  }

  const before = (list, x) => { // the last place whose value is not above x
    let a = 0, b = list.length;
    while (a < b) { const m = (a + b) >> 1; if (list[m] <= x) a = m + 1; else b = m; }
    return a - 1;
  };

  // valueAt is a series' values at x; undefined: it has none there.
  function valueAt(s, x, reach) {
    if (s.kind === "spot") {
      let best = -1;
      s.x.forEach((at, i) => { if (Math.abs(at - x) <= reach && (best < 0 || Math.abs(at - x) < Math.abs(s.x[best] - x))) best = i; });
      return best < 0 ? undefined : s.y.map(row => row[best]);
    }
    const i = before(s.x, x), end = s.x.length - 1;
    if (i < 0 || i > end || x > s.x[end]) return undefined;
    if (s.kind === "span" || i === end || s.x[i] === x) return s.y.map(row => row[i]);
    const part = (x - s.x[i]) / (s.x[i + 1] - s.x[i]);
    return s.y.map(row => row[i] === null || row[i + 1] === null ? null : row[i] + part * (row[i + 1] - row[i]));
  }

  // snapped is the place of the nearest value to x, of the series with the most values.
  function snapped(all, x) {
    const lists = all.panels.flatMap(p => p.series).filter(s => s.kind !== "spot");
    if (!lists.length) return x;
    const s = lists.reduce((a, b) => b.x.length > a.x.length ? b : a), i = Math.max(before(s.x, x), 0);
    if (s.kind === "span") return i >= s.x.length - 1 ? s.x[Math.max(i - 1, 0)] : s.x[i];
    return i + 1 < s.x.length && s.x[i + 1] - x < x - s.x[i] ? s.x[i + 1] : s.x[i];
  }

  const element = (name, values, parent) => {
    const e = document.createElementNS(parent.namespaceURI, name);
    for (const [key, value] of Object.entries(values)) e.setAttribute(key, value);
    parent.append(e);
    return e;
  };

  // draw shows the cross at a place of the data. Pixels are of the window.
  function draw(svg, x, clientX, clientY) {
    const all = reading(svg), [left, right, low, high] = all.across, width = right - left;
    const shown = svg.getBoundingClientRect(), ratio = shown.width / svg.viewBox.baseVal.width;
    x = Math.min(Math.max(snapped(all, x), low), high);
    const at = left + (x - low) / (high - low) * width, rows = [];
    cross?.remove();
    cross = element("g", {class: "reading"}, svg);
    const first = all.panels[0].box, foot = all.panels.at(-1).box;
    element("line", {class: "cross", x1: at, x2: at, y1: first[0], y2: foot[1]}, cross);
    for (const p of all.panels) {
      const [top, bottom, least, most] = p.box;
      for (const s of p.series) {
        const values = valueAt(s, x, near / ratio / width * (high - low));
        if (!values || values.some(v => v === null)) continue;
        values.forEach((v, i) => {
          const name = [s.name, s.rows?.[i]].filter(t => t).join(" ") || p.unit || "value";
          rows.push([name, decimal(v, p.digits), i ? "none" : s.role]);
        });
        if (s.kind === "span") continue;
        const v = values[s.rows?.length === 3 ? 1 : 0], part = p.log ? Math.log(v / least) / Math.log(most / least) : (v - least) / (most - least);
        const y = bottom - part * (bottom - top);
        if (y >= top - 1 && y <= bottom + 1) element("circle", {class: s.role + " spot", cx: at, cy: y, r: 3.5}, cross);
      }
    }
    const unit = all.unit ? all.unit + " " : "";
    show(all.zone ? moment(x, all.zone) + (all.zone === "UTC" ? " UTC" : "") : unit + +x.toPrecision(6), rows,
      clientX ?? shown.left + at * ratio, clientY ?? shown.top + first[0] * ratio);
    last = {svg, x, at: clientX === undefined ? null : [clientX, clientY]};
  }

  // show shows a title and rows of name, text and class beside a place of the window.
  function show(title, rows, x, y) {
    box.replaceChildren();
    const head = document.createElement("b");
    head.textContent = title;
    box.append(head);
    for (const [name, text, kind] of rows) {
      const line = document.createElement("div"), label = document.createElement("i"), value = document.createElement("span");
      label.className = kind || "none";
      label.textContent = name;
      value.textContent = text;
      line.append(label, value);
      box.append(line);
    }
    if (!box.isConnected) document.body.append(box);
    box.hidden = false;
    const {width, height} = box.getBoundingClientRect();
    box.style.left = Math.max(4, x + 16 + width > innerWidth ? x - 16 - width : x + 16) + "px";
    box.style.top = Math.max(4, Math.min(y + 12, innerHeight - height - 4)) + "px";
  }

  function hide() {
    cross?.remove();
    cross = last = null;
    box.hidden = true;
  }

  const pictureOf = target => target instanceof Element ? target.closest("svg.chart[data-read]") : null;
  function point(e) {
    const svg = pictureOf(e.target);
    if (!svg) { if (last && e.type === "pointermove") hide(); return; }
    const [left, right, low, high] = reading(svg).across, shown = svg.getBoundingClientRect();
    const at = (e.clientX - shown.left) / shown.width * svg.viewBox.baseVal.width;
    if (at < left - 4 || at > right + 4) hide();
    else draw(svg, low + (at - left) / (right - left) * (high - low), e.clientX, e.clientY);
  }
  // again reads anew at the same place, where the picture has been drawn again.
  function again() {
    if (!last || last.svg.isConnected || !last.at) return;
    const [clientX, clientY] = last.at;
    point({target: document.elementFromPoint(clientX, clientY), clientX, clientY, type: "again"});
  }
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("pointercancel", hide);
  document.addEventListener("scroll", () => { // a pointer is elsewhere then; a cross of keys goes with its picture
    if (last?.at) hide(); else if (last) draw(last.svg, last.x);
  }, {passive: true});
  document.documentElement.addEventListener("pointerleave", hide);

  // Keys: the arrows move the cross of the picture that has the focus, Escape takes it away.
  document.addEventListener("keydown", e => {
    const svg = pictureOf(document.activeElement), step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
    if (svg && e.key === "Escape") hide();
    if (!svg || !step) return;
    e.preventDefault();
    const all = reading(svg), lists = all.panels.flatMap(p => p.series).filter(s => s.kind !== "spot");
    if (!lists.length) return;
    const x = lists.reduce((a, b) => b.x.length > a.x.length ? b : a).x;
    const from = last?.svg === svg ? before(x, last.x) : step > 0 ? -1 : x.length;
    const by = e.shiftKey ? 10 * step : step;
    draw(svg, x[Math.min(Math.max(from + by, 0), x.length - 1)]);
    box.setAttribute("aria-live", "polite");
  });
  const focusable = root => { for (const svg of root.querySelectorAll("svg.chart[data-read]")) svg.setAttribute("tabindex", "0"); };
  focusable(document);
  window.tidemark = {show, hide, decimal, focusable, again};
})();
