
(function () {
  "use strict";
  if (!window.echarts) return;
  document.getElementById("without").hidden = true;
  document.getElementById("charts").hidden = false;

  const css = getComputedStyle(document.documentElement);
  const ink = css.getPropertyValue("--ink").trim(), soft = css.getPropertyValue("--soft").trim(), line = css.getPropertyValue("--grid").trim();
  const number = new Intl.NumberFormat("en", {maximumFractionDigits: 2});
  const compact = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 2});
  const ms = s => s * 1000;

  const plotted = lines => (lines || []).map(l => l.map(p => [ms(p[0]), p[1]]));

  // Series by chart, in the order in which the options name them.
  const equity = [[ms(data.from), data.start]].concat(data.equity.map(p => [ms(p[0]), p[1]]));
  let peak = 0;
  const falls = equity.map(p => { peak = Math.max(peak, p[1]); return [p[0], peak > 0 ? +(100 * (p[1] / peak - 1)).toFixed(3) : 0]; });
  const charted = data.trips.filter(t => t[5] === 1);
  const series = {
    "chart-candles": [
      data.bars.map(b => [ms(b[0]), b[1], b[2], b[3], b[4]]),
      charted.map(t => [ms(t[0]), t[1]]),
      charted.filter(t => t[4] > 0).map(t => [ms(t[2]), t[3]]),
      charted.filter(t => t[4] <= 0).map(t => [ms(t[2]), t[3]]),
      ...plotted(data.lines),
      (data.marks || []).map(m => ({name: m[2], value: [ms(m[0]), m[1]]})),
    ],
    "chart-equity": [equity, data.bars.map(b => [ms(b[5]), data.hold * b[2]])],
    "chart-drawdown": [falls],
    "chart-trips": [data.trips.filter(t => t[4] > 0).map(t => [ms(t[2]), t[4]]), data.trips.filter(t => t[4] <= 0).map(t => [ms(t[2]), t[4]])],
    "chart-months": [data.months.map(m => ({value: m, itemStyle: {color: m < 0 ? "#d9534f" : "#2f9e77"}}))],
  };

  (data.panes || []).forEach((lines, i) => { series["chart-pane-" + i] = plotted(lines); });

  const together = [];
  for (const id of Object.keys(options)) {
    const option = options[id];
    option.series.forEach((s, i) => {
      s.data = series[id][i];
      if (s.type === "scatter") { s.large = s.data.length > 6000; s.z = 5; s.labelLayout = {hideOverlap: true}; }
    });
    option.textStyle = {color: ink, fontFamily: "inherit"};
    option.legend.textStyle = {color: soft};
    option.title = undefined;
    option.toolbox = undefined;
    option.tooltip.valueFormatter = v => Array.isArray(v) ? v.map(x => number.format(x)).join(" ") : typeof v === "number" ? number.format(v) : v;
    option.tooltip.confine = true;
    for (const axis of option.yAxis) {
      axis.axisLabel = {color: soft, formatter: v => compact.format(v)};
      axis.splitLine = {lineStyle: {color: line}};
      axis.nameTextStyle = {color: soft};
    }
    for (const axis of option.xAxis) {
      axis.axisLabel = {color: soft, hideOverlap: true};
      axis.axisLine = {lineStyle: {color: line}, onZero: false};
      axis.splitLine = {show: false};
    }
    const chart = echarts.init(document.getElementById(id));
    chart.setOption(option);
    if (id !== "chart-months") together.push(chart);
    window.addEventListener("resize", () => chart.resize());
  }
  echarts.connect(together);
})();
