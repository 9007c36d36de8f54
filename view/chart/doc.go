// Package chart draws pictures of numbers: lines, areas, candles, marks, bars, fans, heat maps with
// outlines, parallel coordinates and bridges, in panels one above the other that share the
// horizontal axis. Every static picture of the program is made here, as SVG or PNG.
//
// The package never reads a clock or a file, keeps nothing between two calls, and imports no
// package of this module. The same Chart gives the same bytes. Colours are roles (Main, Up, Down):
// an SVG names them as CSS classes, so that it follows the page's light or dark style; a PNG takes
// them from a Theme.
//
// Start at Chart; the examples show one picture each. Chart.Element is for a page that carries
// Style, Chart.SVG is a file of its own, and Chart.PNG is for places without SVG.
//
// Limits: a number beyond ±1e100 is an error, and numbers closer to each other than a billionth of
// their size are drawn as equal. Lines, areas, fans, candles and marks are thinned to the picture's
// pixels, so the size of a picture does not grow with its data; bars are drawn one by one.
//
// # Decisions
//
//   - gonum's rasteriser, axes of our own. PNG by gonum/plot's vg; the SVG is written by us, with a
//     class for each colour, so that it follows light and dark mode. gonum's plots would parse
//     twelve fonts at each start. Price: ticks, legends and clipping are our code.
package chart
