"use strict";
// The script of a page. It loads nothing. It looks for
//   .packed[data-numbers=ID]  a table with a head and some rows: becomes sortable and filterable over all packed rows
//   .sorted[data-first=N]     a table of texts: becomes sortable, with N rows at first
//   .zoom[data-candles="ID …"] a place for a chart of candles; further data-* name what is drawn over them
//   .choice[data-label=TEXT]  elements with data-name: a list of their names chooses the one that is shown
//   .scripted, .unscripted    elements that are shown, and hidden, once the script runs
// and for packed numbers in <script type="text/plain" id=ID>; page.Pack in Go is their format.
(() => {
  const BATCH = 200;
  const byId = id => document.getElementById(id);
  const make = (name, text, parent) => {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  };
  const two = n => String(n).padStart(2, "0");
  const moment = (s, seconds) => {
    const d = new Date(s * 1000);
    return d.getUTCFullYear() + "-" + two(d.getUTCMonth() + 1) + "-" + two(d.getUTCDate()) + " " + two(d.getUTCHours()) + ":" +
      two(d.getUTCMinutes()) + (seconds && s % 60 ? ":" + two(d.getUTCSeconds()) : "");
  };
  const pair = (a, unit, b, small) => a + " " + unit + (b ? " " + b + " " + small : "");
  const span = s => s >= 172800 ? pair(Math.floor(s / 86400), "d", Math.floor(s % 86400 / 3600), "h") :
    s >= 3600 ? pair(Math.floor(s / 3600), "h", Math.floor(s % 3600 / 60), "min") : s >= 60 ? Math.floor(s / 60) + " min" : s + " s";
  const {decimal} = window.tidemark; // of the script of pictures
  const short = x => Math.abs(x) >= 1e5 ? new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 2}).format(x) :
    String(+x.toPrecision(5)).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, "\u202f");

  // Packed numbers.

  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const known = new Map();
  const unpack = id => {
    if (!known.has(id)) known.set(id, read(id));
    return known.get(id);
  };

  // read returns {head, columns}: the columns as arrays of numbers.
  async function read(id) {
    const bytes = await inflate(byId(id).textContent);
    let at = 0;
    const varint = () => {
      let n = 0, scale = 1, b;
      do { b = bytes[at++]; n += (b & 127) * scale; scale *= 128; } while (b > 127);
      return n;
    };
    const length = varint(), count = varint();
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(at, at += length)));
    const columns = [];
    for (let i = 0; i < count; i++) {
      const values = new Float64Array(varint()), steps = varint();
      for (let k = 0, before = 0; k < values.length; k++) {
        const n = varint();
        values[k] = (n % 2 ? -(n + 1) / 2 : n / 2) + before;
        if (steps) before = values[k];
      }
      columns.push(values);
    }
    return {head, columns};
  }

  // numbers is a table of packed columns: at(name, row) is a value, text(column, row) its text.
  async function numbers(id) {
    const {head, columns} = await unpack(id);
    const scale = head.columns.map((c, i) => typeof c.digits === "object" ? c.digits.map(d => 10 ** d) : 10 ** (c.digits || 0));
    const by = head.columns.map(c => c.by ? head.columns.findIndex(o => o.key === c.by) : -1);
    const value = (i, row) => columns[i][row] / (by[i] < 0 ? scale[i] : scale[i][columns[by[i]][row]]);
    const digits = (i, row) => by[i] < 0 ? head.columns[i].digits || 0 : head.columns[i].digits[columns[by[i]][row]];
    const text = (i, row) => {
      const c = head.columns[i];
      switch (c.kind) {
        case "name": return c.names[columns[i][row]];
        case "time": return moment(columns[i][row], true);
        case "span": return span(columns[i][row]);
        case "count": return columns[i][row] ? String(columns[i][row]) : "";
      }
      return decimal(value(i, row), Math.max(0, digits(i, row)));
    };
    const place = key => head.columns.findIndex(c => c.key === key);
    return {head, columns, value, text, place, rows: columns.length ? columns[0].length : 0, at: (key, row) => value(place(key), row)};
  }

  // plain is a table of texts as numbers() is one of packed columns. A column of numbers sorts by them, another by its texts.
  function plain(element) {
    const lines = [...element.tBodies[0].rows].map(line => [...line.cells].map(cell => cell.textContent));
    const number = text => text === "–" ? NaN : Number(text.replace(/[, %]/g, "") || "x");
    const columns = [];
    const describe = (title, i) => {
      columns[i] = lines.map(line => number(line[i]));
      if (lines.every((line, row) => !isNaN(columns[i][row]) || line[i] === "–")) return {key: i, title};
      const names = [...new Set(lines.map(line => line[i]))];
      columns[i] = lines.map(line => names.indexOf(line[i]));
      return {key: i, title, names, kind: names.length > 12 ? "text" : "name"};
    };
    const head = {columns: [...element.tHead.rows[0].cells].map((cell, i) => describe(cell.textContent, i)), sort: 0, rising: true};
    return {head, columns, value: (i, row) => columns[i][row], text: (i, row) => lines[row][i], place: key => key, rows: lines.length};
  }

  // Choices.

  function choice(box) {
    const options = [...box.children], bar = make("div");
    bar.className = "controls";
    const select = make("select", undefined, make("label", box.dataset.label + " ", bar));
    options.forEach((o, i) => { make("option", o.dataset.name, select).value = i; });
    select.onchange = () => options.forEach((o, i) => { o.hidden = i !== +select.value; });
    for (const o of options) for (const title of o.querySelectorAll("h3")) title.hidden = true; // the list has the name
    box.prepend(bar);
    select.onchange();
  }

  // Tables.

  async function table(box) {
    const element = box.querySelector("table"), body = element.tBodies[0], narrow = window.matchMedia("(max-width:720px)").matches;
    const first = +box.dataset.first / (narrow ? 2 : 1) || BATCH;
    const data = box.dataset.numbers ? await numbers(box.dataset.numbers) : plain(element), {head} = data;
    const shown = head.columns.map((c, i) => i).filter(i => head.columns[i].title);
    let order = data.place(head.sort), falling = !head.rising, limit = first, rows = [];

    const bar = make("div");
    bar.className = "controls";
    element.before(bar);
    const choices = [];
    const choose = (title, options, test) => {
      const label = make("label", title + " ", bar), select = make("select", undefined, label);
      options.forEach((o, i) => { make("option", o, select).value = i; });
      select.onchange = () => { limit = first; update(); };
      choices.push(row => +select.value === 0 || test(+select.value - 1, row));
      return select;
    };
    for (const i of shown) {
      const c = head.columns[i];
      if (c.kind === "name" && c.names.length > 1) choose(c.title, ["all", ...c.names], (n, row) => data.columns[i][row] === n);
      if (c.key === head.gain) choose(c.title, ["all", "gain", "loss"], (n, row) => n === 0 ? data.columns[i][row] > 0 : data.columns[i][row] < 0);
    }
    const within = make("label", undefined, bar), inside = make("input", undefined, within);
    inside.type = "checkbox";
    within.append(" only those in the chart");
    within.hidden = !document.querySelector(".zoom");
    inside.onchange = () => update();
    box.addEventListener("range", () => { if (inside.checked) update(); });
    const sorter = make("select", undefined, make("label", "sort by ", bar));
    for (const i of shown) make("option", head.columns[i].title, sorter).value = i;
    sorter.onchange = () => sort(+sorter.value, true);
    const turn = make("button", "↓", bar);
    turn.type = "button";
    turn.setAttribute("aria-label", "turn the order round");
    turn.onclick = () => sort(order, !falling);

    const heads = [...element.tHead.rows[0].cells];
    shown.forEach((i, n) => {
      const button = make("button", heads[n].textContent);
      button.type = "button";
      heads[n].replaceChildren(button);
      button.onclick = () => sort(i, order === i ? !falling : true);
    });
    const tail = make("p");
    tail.className = "quiet";
    element.after(tail);
    const count = make("span", undefined, tail), more = make("button", first < BATCH ? "show all" : "show " + BATCH + " more", tail);
    count.setAttribute("role", "status");
    more.type = "button";
    more.onclick = () => { const from = limit; limit += first < BATCH ? rows.length : BATCH; fill(from); };

    function sort(by, down) { order = by; falling = down; limit = first; update(); }

    function update() {
      const view = inside.checked && box.range ? box.range(data) : undefined;
      rows = [];
      for (let row = 0; row < data.rows; row++) if (choices.every(test => test(row)) && (!view || view(row))) rows.push(row);
      const c = head.columns[order];
      let key = row => data.value(order, row);
      if (c.names) {
        const rank = c.names.map((n, i) => i).sort((a, b) => c.names[a] < c.names[b] ? 1 : -1), places = [];
        rank.forEach((n, i) => { places[n] = i; });
        key = row => places[data.columns[order][row]];
      }
      const last = falling ? -Infinity : Infinity; // what has no value comes last
      const keys = new Map(rows.map(row => [row, isNaN(key(row)) ? last : key(row)])), tie = head.rising ? -1 : 1;
      const before = (a, b) => keys.get(a) === keys.get(b) ? 0 : (keys.get(a) > keys.get(b)) === falling ? -1 : 1;
      rows.sort((a, b) => before(a, b) || tie * (b - a));
      sorter.value = order;
      turn.textContent = falling ? "↓" : "↑";
      shown.forEach((i, n) => heads[n].setAttribute("aria-sort", i !== order ? "none" : falling ? "descending" : "ascending"));
      body.replaceChildren();
      fill(0);
    }

    function fill(from) {
      const lines = document.createDocumentFragment();
      for (const row of rows.slice(from, limit)) {
        const line = make("tr", undefined, lines);
        line.dataset.row = row;
        for (const i of shown) {
          const c = head.columns[i], cell = make("td", data.text(i, row), line);
          cell.dataset.l = c.title;
          if (c.sign) cell.className = data.columns[i][row] > 0 ? "up" : data.columns[i][row] < 0 ? "down" : "";
        }
        if (head.place) { line.tabIndex = 0; line.title = "show in the chart"; }
      }
      body.append(lines);
      const some = Math.min(limit, rows.length);
      count.textContent = some + " of " + rows.length + (rows.length < data.rows ? " chosen, of " + data.rows : "") + ". ";
      more.hidden = some >= rows.length;
    }

    const follow = e => {
      const line = e.target.closest("tr");
      if (line && head.place) box.dispatchEvent(new CustomEvent("place", {bubbles: true, detail: {data, row: +line.dataset.row}}));
    };
    body.addEventListener("click", follow);
    body.addEventListener("keydown", e => { if (e.key === "Enter") follow(e); });
    update();
  }

  // The chart.

  // series turns the packed levels of candles into arrays of time and prices, the finest level first.
  async function series(id) {
    const {head, columns} = await unpack(id), scale = 10 ** head.digits;
    const levels = head.levels.map((level, n) => {
      const [start, gap, bodies, above, below] = columns.slice(5 * n, 5 * n + 5), size = start.length;
      const s = {each: level.each, parts: level.parts, time: new Float64Array(size), open: new Float64Array(size), high: new Float64Array(size),
        low: new Float64Array(size), close: new Float64Array(size)};
      for (let i = 0, before = 0; i < size; i++) {
        const open = before + gap[i], close = open + bodies[i];
        s.time[i] = start[i] * head.unit;
        s.open[i] = open / scale;
        s.close[i] = close / scale;
        s.high[i] = (Math.max(open, close) + above[i]) / scale;
        s.low[i] = (Math.min(open, close) - below[i]) / scale;
        before = close;
      }
      return s;
    });
    return {head, levels};
  }

  const lower = (list, x) => { // the first place whose value is not below x
    let a = 0, b = list.length;
    while (a < b) { const m = (a + b) >> 1; if (list[m] < x) a = m + 1; else b = m; }
    return a;
  };

  async function zoom(box) {
    const ids = box.dataset.candles.split(" "), all = await Promise.all(ids.map(series));
    const optional = async (name, load) => box.dataset[name] ? load(box.dataset[name]) : undefined;
    const trips = await optional("trips", numbers), stops = await optional("stops", numbers), marks = await optional("marks", numbers);
    const lines = await optional("lines", unpack), curve = await optional("curve", numbers);
    let now = 0, from = 0, to = 0, chosen = -1;

    const bar = make("div", undefined, box);
    bar.className = "controls";
    const button = (text, label, act) => {
      const b = make("button", text, bar);
      b.type = "button";
      b.setAttribute("aria-label", label);
      b.title = label;
      b.onclick = act;
    };
    const market = make("select");
    market.setAttribute("aria-label", "market");
    all.forEach((s, i) => { make("option", s.head.market, market).value = i; });
    if (all.length > 1) bar.append(market);
    button("whole", "the whole run", () => whole());
    button("+", "closer", () => scale(0.5, 0.5));
    button("−", "further away", () => scale(2, 0.5));
    button("◀", "earlier", () => move(-0.5));
    button("▶", "later", () => move(0.5));
    const canvas = make("canvas", undefined, box);
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    const note = make("p", undefined, box);
    note.className = "quiet";
    note.setAttribute("role", "status");

    const level = () => all[now].levels;
    const ends = () => { const l = level().at(-1); return [l.time[0], l.time.at(-1) + l.each * all[now].head.interval]; };
    const whole = () => { chosen = -1; [from, to] = ends(); draw(); };
    const least = () => 8 * all[now].head.interval;
    function show(a, b) {
      const [first, last] = ends(), width = Math.min(Math.max(b - a, least()), last - first);
      from = Math.min(Math.max(a, first), last - width);
      to = from + width;
      draw();
    }
    const scale = (factor, where) => { const at = from + where * (to - from); show(at - (at - from) * factor, at + (to - at) * factor); };
    const move = share => show(from + share * (to - from), to + share * (to - from));
    market.onchange = () => { now = +market.value; whole(); };

    // pick returns the finest level that covers what is shown and has room: at most a bar for two pixels.
    function pick(width) {
      const {head} = all[now];
      for (const l of level()) {
        const covers = !l.parts || l.parts.some(p => p[0] * head.unit <= Math.max(from, l.time[0]) && p[1] * head.unit >= to) || l.each === level().at(-1).each;
        if (covers && (to - from) / (l.each * head.interval) <= width / 2) return l;
      }
      return level().at(-1);
    }

    // bars returns the bars of a level in view, several merged where there are too many for the width.
    function bars(l, width) {
      const a = Math.max(lower(l.time, from) - 1, 0), b = lower(l.time, to), many = Math.max(1, Math.ceil((b - a) / (width / 2)));
      const out = [], length = l.each * all[now].head.interval;
      for (let i = a; i < b; i += many) {
        const end = Math.min(i + many, b);
        let high = l.high[i], low = l.low[i];
        for (let k = i + 1; k < end; k++) { high = Math.max(high, l.high[k]); low = Math.min(low, l.low[k]); }
        out.push([l.time[i], l.time[end - 1] + length, l.open[i], high, low, l.close[end - 1]]);
      }
      return {list: out, many: many * l.each};
    }

    let colours, context, place, shown;
    function draw() {
      const css = getComputedStyle(box), width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
      colours = name => css.getPropertyValue("--" + name).trim();
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = "11px system-ui, sans-serif";
      const name = all[now].head.market, plotted = lines ? lines.head.lines.map((l, i) => ({...l, i})).filter(l => l.market === name) : [];
      const panes = [...new Set(plotted.map(l => l.pane).filter(p => p))];
      const right = width - 62, foot = 18, low = panes.length + (curve ? 1 : 0), each = low ? Math.min(90, (height - foot) * 0.5 / low) : 0;
      const x = t => (t - from) / (to - from) * right;
      place = px => from + px / right * (to - from);
      const level = pick(right), {list, many} = bars(level, right);

      const panel = (top, bottom, ranges, unit) => {
        let least = Infinity, most = -Infinity;
        for (const r of ranges) { least = Math.min(least, r[0]); most = Math.max(most, r[1]); }
        if (!(most > least)) { const room = Math.abs(least) / 20 || 1; least -= room; most += room; }
        const room = (most - least) * 0.05, y = v => bottom - (v - least + room) / (most - least + 2 * room) * (bottom - top);
        const step = 10 ** Math.floor(Math.log10((most - least) / ((bottom - top) / 60))), fits = [10, 5, 2, 1].findLastIndex(k => (most - least) / (k * step) <= (bottom - top) / 30);
        const ticks = w => Math.floor((most + room) / w) - Math.ceil((least - room) / w) + 1;
        const wide = [10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05].slice(fits).map(k => k * step).find(w => ticks(w) > 1); // a low pane has two ticks, too
        context.strokeStyle = colours("grid");
        context.fillStyle = colours("soft");
        context.lineWidth = 1;
        for (let v = Math.ceil((least - room) / wide) * wide; v < most + room; v += wide) {
          line([[0, y(v)], [right, y(v)]]);
          context.fillText(short(+v.toPrecision(12)), right + 5, y(v) + 4);
        }
        if (unit) context.fillText(unit, 4, top + 11);
        context.save();
        context.beginPath();
        context.rect(0, top, right, bottom - top);
        context.clip();
        return y;
      };
      const line = points => {
        context.beginPath();
        let open = false;
        for (const p of points) {
          if (!p) { open = false; continue; }
          if (open) context.lineTo(p[0], p[1]); else context.moveTo(p[0], p[1]);
          open = true;
        }
        context.stroke();
      };
      const path = (time, value) => { // a line in view, thinned to two points a pixel
        const points = [], a = Math.max(lower(time, from) - 1, 0), b = Math.min(lower(time, to) + 1, time.length), many = Math.max(1, Math.floor((b - a) / (2 * right)));
        for (let i = a; i < b; i += many) points.push(value(i) === null ? null : [time[i], value(i)]);
        return points;
      };
      const extent = points => points.reduce((r, p) => p ? [Math.min(r[0], p[1]), Math.max(r[1], p[1])] : r, [Infinity, -Infinity]);
      const drawn = plotted.map(l => ({l, points: path(lines.columns[2 * l.i], i => {
        const v = lines.columns[2 * l.i + 1][i];
        return v > 9e15 ? null : v / 10 ** l.digits;
      })}));

      const bottom = height - foot - low * each, over = drawn.filter(d => !d.l.pane);
      const y = panel(0, bottom - 8, [...list.map(b => [b[4], b[3]]), ...over.map(d => extent(d.points)).filter(r => r[1] >= r[0])], all[now].head.quote);
      const size = Math.max(1, list.length ? (x(list[0][1]) - x(list[0][0])) * 0.72 : 1);
      for (const b of list) {
        const centre = (x(b[0]) + x(b[1])) / 2;
        context.fillStyle = colours(b[5] >= b[2] ? "up" : "down");
        context.fillRect(centre - 0.5, y(b[3]), 1, Math.max(1, y(b[4]) - y(b[3])));
        if (size >= 2) context.fillRect(centre - size / 2, y(Math.max(b[2], b[5])), size, Math.max(1, Math.abs(y(b[2]) - y(b[5]))));
      }
      const coloured = (d, y) => {
        context.strokeStyle = colours(d.l.role);
        context.lineWidth = many > 8 ? 0.7 : 1.2; // many: what is merged shows through
        context.globalAlpha = many > 8 ? 0.6 : 1;
        context.setLineDash(d.l.dashed ? [5, 3] : []);
        line(d.points.map(p => p && [x(p[0]), y(p[1])]));
        context.setLineDash([]);
        context.globalAlpha = 1;
      };
      over.forEach(d => coloured(d, y));
      if (stops) levels(stops, name, x, y, line);
      const {seen, each: oneIn} = trips ? trades(name, x, y, line) : {};
      if (marks) texts(name, x, y);
      context.restore();
      legend(over.map(d => d.l), 70, 11);

      let top = bottom;
      for (const pane of panes) {
        const own = drawn.filter(d => d.l.pane === pane), y = panel(top + 4, top + each - 8, own.map(d => extent(d.points)).filter(r => r[1] >= r[0]), pane);
        own.forEach(d => coloured(d, y));
        context.restore();
        legend(own.map(d => d.l), 90, top + 15);
        top += each;
      }
      if (curve) {
        const points = path(curve.columns[0], i => curve.value(1, i)), y = panel(top + 4, top + each - 8, [extent(points)], curve.head.columns[1].title);
        context.strokeStyle = colours("main");
        context.lineWidth = 1.4;
        line(points.map(p => [x(p[0]), y(p[1])]));
        context.restore();
      }
      times(right, height, x);
      shown = {list, right, drawn, curve, x};
      const interval = span(all[now].head.interval), finer = all[now].levels[0].each < level.each && (to - from) / all[now].head.interval < right / 2;
      note.textContent = name + ", " + moment(from) + " to " + moment(to) + " UTC: " + (many === 1 ? "candles of " + interval : "a bar is " + many + " candles of " + interval) +
        (trips ? ", " + seen + " round trips in view" + (oneIn > 1 ? ", one in " + oneIn + " drawn" : "") : "") + "." + (finer ? " Single candles are not in the page here; they are in the candle store." : "");
      canvas.setAttribute("aria-label", note.textContent);
      canvas.dataset.each = many;
      canvas.dataset.from = from;
      canvas.dataset.to = to;
      for (const t of document.querySelectorAll(".packed")) {
        t.range = ({head, columns, place}) => {
          const market = columns[place("market")], entered = columns[place("entered")], held = columns[place("held")];
          const own = head.columns[place("market")].names.indexOf(name);
          return row => market[row] === own && entered[row] <= to && entered[row] + held[row] >= from;
        };
        t.dispatchEvent(new Event("range"));
      }
    }

    function legend(list, left, top) {
      for (const l of list) {
        context.fillStyle = colours(l.role);
        context.fillRect(left, top - 5, 12, 2);
        context.fillStyle = colours("ink");
        context.fillText(l.name, left + 16, top);
        left += context.measureText(l.name).width + 28;
      }
    }

    function times(right, height, x) {
      const steps = [60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2629800, 7889400, 15778800, 31557600];
      const step = steps.find(s => (to - from) / s <= right / 95) || 10 * 31557600, days = step >= 86400;
      context.fillStyle = colours("soft");
      for (let t = Math.ceil(from / step) * step; t < to; t += step) {
        const text = days ? moment(t).slice(0, 10) : moment(t).slice(step >= 86400 / 2 ? 0 : 5), at = x(t);
        if (at + 66 < right) context.fillText(text, at, height - 4);
      }
    }

    function levels(stops, name, x, y, line) {
      context.strokeStyle = colours("down");
      context.lineWidth = 1.2;
      context.setLineDash([4, 3]);
      for (let row = 0; row < stops.rows; row++) {
        const a = stops.at("from", row), b = a + stops.at("held", row);
        if (b < from || a > to || stops.text(0, row) !== name) continue;
        const level = y(stops.at("price", row));
        line([[x(a), level], [x(b), level]]);
      }
      context.setLineDash([]);
    }

    function trades(name, x, y, line) {
      const list = [], [market, entered, held, entry, exit, profit] = ["market", "entered", "held", "entry", "exit", "profit"].map(trips.place);
      const own = trips.head.columns[market].names.indexOf(name), {columns, value} = trips;
      for (let row = 0; row < trips.rows; row++) {
        const a = columns[entered][row], b = a + columns[held][row];
        if (columns[market][row] === own && b >= from && a <= to) list.push([a, value(entry, row), b, value(exit, row), value(profit, row), row]);
      }
      const many = list.length > 400, r = !many ? 5 : list.length > 2000 ? 2 : 3, each = Math.ceil(list.length / 1500);
      context.globalAlpha = many ? 0.8 : 1; // the candles show through
      for (let i = 0; i < list.length; i += each) {
        const [a, entry, b, exit, gain, row] = list[i];
        const colour = colours(gain > 0 ? "up" : "down"), x1 = x(a), y1 = y(entry), x2 = x(b), y2 = y(exit);
        if (!many || row === chosen) {
          context.strokeStyle = colour;
          context.lineWidth = row === chosen ? 2.5 : 1;
          line([[x1, y1], [x2, y2]]);
        }
        triangle(x1, y1, r, 1, colours("main"));
        triangle(x2, y2, r, -1, colour);
      }
      context.globalAlpha = 1;
      return {seen: list.length, each};
    }

    function triangle(x, y, r, up, colour) {
      context.fillStyle = colour;
      context.strokeStyle = colours("card");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, y - up * r);
      context.lineTo(x - r, y + up * r);
      context.lineTo(x + r, y + up * r);
      context.closePath();
      if (r > 2) context.stroke();
      context.fill();
    }

    function texts(name, x, y) {
      context.fillStyle = colours("ink");
      let last = -Infinity;
      for (let row = 0; row < marks.rows; row++) {
        const t = marks.at("at", row);
        if (t < from || t > to || marks.text(0, row) !== name) continue;
        const at = x(t), top = y(marks.at("price", row));
        context.fillRect(at - 1.5, top - 1.5, 3, 3);
        if (at > last) { context.fillText(marks.text(3, row), at + 4, top - 4); last = at + context.measureText(marks.text(3, row)).width + 8; }
      }
    }

    // The cross with the values of a place.
    const cross = make("div", undefined, box);
    cross.className = "cross";
    cross.hidden = true;
    const leave = () => { cross.hidden = true; window.tidemark.hide(); };
    function read(e) {
      const at = place(e.clientX - canvas.getBoundingClientRect().left), b = shown.list.findLast(b => b[0] <= at);
      if (!b || at > to || at >= b[1] || pointers.size > 1) { leave(); return; }
      const {digits} = all[now].head, rows = ["open", "high", "low", "close"].map((name, i) => [name, decimal(b[2 + i], Math.max(0, digits)), i ? "" : "ink"]);
      for (const d of shown.drawn) {
        const p = d.points.findLast(p => p && p[0] < b[1]);
        if (p) rows.push([d.l.name, decimal(p[1], d.l.pane ? 2 : Math.max(0, digits)), d.l.role]);
      }
      if (curve) {
        const row = lower(curve.columns[0], b[1] + 0.5) - 1;
        if (row >= 0) rows.push([curve.head.columns[1].title, curve.text(1, row), "main"]);
      }
      cross.hidden = false;
      cross.style.left = canvas.offsetLeft + shown.x((b[0] + b[1]) / 2) + "px";
      cross.style.top = canvas.offsetTop + "px";
      cross.style.height = canvas.clientHeight - 18 + "px";
      window.tidemark.show(moment(b[0]) + " UTC", rows, e.clientX, e.clientY);
    }
    canvas.addEventListener("pointerleave", leave);

    // Wheel, drag, two fingers, keys.
    const pointers = new Map();
    const share = e => (e.clientX - canvas.getBoundingClientRect().left) / (canvas.clientWidth - 62);
    canvas.addEventListener("wheel", e => {
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(e.deltaX / canvas.clientWidth); else scale(e.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max(share(e), 0), 1));
    }, {passive: false});
    canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); pointers.set(e.pointerId, share(e)); });
    canvas.addEventListener("pointermove", e => {
      read(e);
      if (!pointers.has(e.pointerId)) return;
      const before = pointers.get(e.pointerId), here = share(e);
      const others = [...pointers.keys()].filter(id => id !== e.pointerId);
      if (others.length) {
        const other = pointers.get(others[0]), factor = Math.abs(before - other) / Math.max(Math.abs(here - other), 0.01);
        scale(Math.min(Math.max(factor, 0.5), 2), other);
      } else move(before - here);
      pointers.set(e.pointerId, here);
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, e => pointers.delete(e.pointerId));
    canvas.addEventListener("dblclick", whole);
    canvas.addEventListener("keydown", e => {
      const act = {ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => scale(0.5, 0.5), "-": () => scale(2, 0.5), Home: whole}[e.key];
      if (act) { e.preventDefault(); act(); }
    });
    document.addEventListener("place", e => {
      const {data, row} = e.detail, at = all.findIndex(s => s.head.market === data.text(data.place("market"), row));
      if (at < 0) return;
      now = at;
      market.value = at;
      chosen = row;
      const a = data.at("entered", row), held = data.at("held", row), room = Math.max(held * 0.6, 20 * all[now].head.interval);
      show(a - room, a + held + room);
      box.scrollIntoView({block: "nearest"});
    });
    new ResizeObserver(draw).observe(canvas);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    whole();
  }

  async function start() {
    document.querySelectorAll(".choice").forEach(choice);
    document.querySelectorAll(".sorted").forEach(table);
    if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack the numbers");
    for (const e of document.querySelectorAll(".scripted")) e.hidden = false;
    for (const e of document.querySelectorAll(".unscripted")) e.hidden = true;
    const jobs = [...document.querySelectorAll(".zoom")].map(zoom).concat([...document.querySelectorAll(".packed")].map(table));
    await Promise.all(jobs);
    document.documentElement.dataset.ready = "yes";
  }
  start().catch(error => {
    for (const e of document.querySelectorAll(".scripted")) e.hidden = true;
    for (const e of document.querySelectorAll(".unscripted")) {
      e.hidden = false;
      if (e.tagName === "P") make("span", " (" + error.message + ")", e);
    }
  });
})();
