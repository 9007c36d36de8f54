package chart

import (
	"fmt"
	"image/color"
	"strings"
)

// A Role is the meaning of a colour. The zero Role is the layer's usual one.
type Role int

// The roles. Each is a CSS class and a CSS variable of the same name in lower case. None is amber:
// on a page, amber is a warning.
const (
	Main   Role = iota + 1 // blue: the run or the sets that a page is about
	Quiet                  // grey: what those are compared with, such as a hold or luck
	Second                 // further series
	Third
	Up   // profit, rising
	Down // loss, falling
	Ink  // text
	Grid // lines behind the data
)

// roleNames are classes and variables.
var roleNames = [...]string{
	Main: "main", Quiet: "quiet", Second: "second", Third: "third", Up: "up", Down: "down", Ink: "ink", Grid: "grid",
}

// Class is the CSS class of a role, and the name of its variable.
func (r Role) Class() string { return roleNames[r] }

// seriesRoles are the colours of Series.
var seriesRoles = [...]Role{Main, Third, Second, Ink}

// Series is the look of the i-th of several lines that mean the same, such as runs.
func Series(i int) (role Role, dashed bool) {
	return seriesRoles[i%len(seriesRoles)], i/len(seriesRoles)%2 == 1
}

// or returns the role, or other where none is set.
func (r Role) or(other Role) Role {
	if r < Main || r > Grid {
		return other
	}
	return r
}

// A Theme is the set of concrete colours of a PNG.
type Theme int

// The themes.
const (
	Light Theme = iota + 1
	Dark
)

// palette are the colours of a theme by role; place 0 is the background.
type palette [Grid + 1]color.RGBA

// palettes are the only place that knows colours: Style and PNG take theirs from it.
var palettes = [...]palette{
	Light: {
		0: {255, 255, 255, 255}, Main: {59, 125, 216, 255}, Quiet: {122, 130, 140, 255}, Second: {131, 89, 196, 255},
		Third: {196, 98, 22, 255}, Up: {47, 158, 119, 255}, Down: {217, 83, 79, 255}, Ink: {35, 41, 47, 255},
		Grid: {223, 220, 211, 255},
	},
	Dark: {
		0: {27, 32, 39, 255}, Main: {91, 155, 240, 255}, Quiet: {146, 156, 168, 255}, Second: {176, 140, 232, 255},
		Third: {232, 145, 84, 255}, Up: {70, 185, 143, 255}, Down: {232, 113, 109, 255}, Ink: {223, 228, 234, 255},
		Grid: {50, 58, 68, 255},
	},
}

// A paint is a role with an opacity of 0 to 1.
type paint struct {
	role    Role
	opacity float64
}

// solid is the role without transparency.
func solid(r Role) paint { return paint{r, 1} }

// Style returns the CSS of Element, for a page to carry once: a variable for each role, light and
// dark, and the rules of class chart. A page that sets the variables on an element of its own
// changes the colours of the pictures inside it.
func Style() string { return pictureStyle() + readStyle() }

// pictureStyle is the style without that of Script.
func pictureStyle() string {
	var b strings.Builder
	b.WriteString(":root{" + variables(Light) + "}\n")
	b.WriteString("@media (prefers-color-scheme:dark){:root{" + variables(Dark) + "}}\n")
	fmt.Fprintf(&b, "svg.chart{display:block;width:100%%;height:auto;font:%dpx system-ui,-apple-system,"+
		"\"Segoe UI\",Roboto,\"Helvetica Neue\",sans-serif;font-variant-numeric:tabular-nums}\n", textSize)
	b.WriteString(".chart .line{stroke-linejoin:round}\n")
	for _, name := range roleNames[Main:] {
		fmt.Fprintf(&b, ".chart .%[1]s{fill:var(--%[1]s)}.chart .%[1]s.line{fill:none;stroke:var(--%[1]s)}\n", name)
	}
	return b.String()
}

// standalone is the style of a file of its own, which needs a background.
func standalone() string {
	return fmt.Sprintf("%ssvg.chart{background:%s}\n@media (prefers-color-scheme:dark){svg.chart{background:%s}}\n",
		pictureStyle(), hex(palettes[Light][0]), hex(palettes[Dark][0]))
}

// variables declares the colours of a theme.
func variables(t Theme) string {
	declared := make([]string, 0, len(roleNames))
	for r := Main; r <= Grid; r++ {
		declared = append(declared, "--"+roleNames[r]+":"+hex(palettes[t][r]))
	}
	return strings.Join(declared, ";")
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
