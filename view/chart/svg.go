package chart

import (
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
)

// perPixel is the precision of an SVG: places are whole tenths of a pixel.
const perPixel = 10

// svg is a surface that writes an SVG. Colours are classes; opacities and widths are attributes,
// which work under a content security policy that forbids styles, too.
type svg struct {
	out    []byte
	height float64
}

func newSVG(label, style string, width, height float64, readings []byte) *svg {
	s := &svg{out: make([]byte, 0, 16<<10), height: height}
	s.put(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 `)
	s.number(width)
	s.put(" ")
	s.number(height)
	s.put(`" role="img" aria-label="`)
	s.escape(label)
	s.put("\"")
	s.out = append(s.out, readings...)
	s.put(">\n")
	if style != "" {
		s.put("<style>\n")
		s.escape(style)
		s.put("</style>\n")
	}
	return s
}

func (s *svg) bytes() []byte { return append(s.out, "</svg>\n"...) }

func (s *svg) put(text string) { s.out = append(s.out, text...) }

func (s *svg) stroke(p paint, width float64, dashed bool, path vg.Path) {
	if len(path) == 0 {
		return
	}
	s.put(`<path class="` + roleNames[p.role] + ` line" stroke-width="`)
	s.out = strconv.AppendFloat(s.out, width, 'g', 3, 64)
	if dashed {
		s.put(`" stroke-dasharray="5 3`)
	}
	s.end(p, path)
}

func (s *svg) fill(p paint, crisp bool, path vg.Path) {
	if len(path) == 0 {
		return
	}
	s.put(`<path class="` + roleNames[p.role])
	if crisp {
		s.put(`" shape-rendering="crispEdges`)
	}
	s.end(p, path)
}

// end closes the attribute that is open and writes opacity and path.
func (s *svg) end(p paint, path vg.Path) {
	if p.opacity != 1 {
		s.put(`" opacity="`)
		s.out = strconv.AppendFloat(s.out, p.opacity, 'g', 3, 64)
	}
	s.put(`" d="`)
	s.path(path)
	s.put("\"/>\n")
}

func (s *svg) text(at vg.Point, a anchor, text string) {
	s.put(`<text class="ink" x="`)
	s.number(float64(at.X))
	s.put(`" y="`)
	s.number(s.height - float64(at.Y))
	switch a {
	case middle:
		s.put(`" text-anchor="middle`)
	case end:
		s.put(`" text-anchor="end`)
	}
	s.put(`">`)
	s.escape(text)
	s.put("</text>\n")
}

// path writes the path in steps from point to point, rounded from their places, so that no error
// adds up.
func (s *svg) path(path vg.Path) {
	var x, y, startX, startY int // in tenths of a pixel
	command := byte(0)
	for i := range path {
		c := &path[i]
		toX, toY := tenths(float64(c.Pos.X)), tenths(s.height-float64(c.Pos.Y))
		dx, dy := toX-x, toY-y
		switch c.Type {
		case vg.MoveComp:
			s.step('m', &command, dx, dy)
			startX, startY = toX, toY
		case vg.LineComp:
			s.line(&command, dx, dy)
		case vg.ArcComp: // always a whole circle, from its right end
			s.circle(tenths(float64(c.Radius)))
			command = 'a'
			continue
		case vg.CloseComp:
			s.put("z")
			command, x, y = 'z', startX, startY
			continue
		}
		x, y = toX, toY
	}
}

// line writes a step in its shortest form; a step of nothing is left out.
func (s *svg) line(command *byte, dx, dy int) {
	switch {
	case dx == 0 && dy == 0:
	case dy == 0:
		s.step('h', command, dx)
	case dx == 0:
		s.step('v', command, dy)
	default:
		s.step('l', command, dx, dy)
	}
}

// step writes a command and its numbers. The command is left out where it is that of the step
// before.
func (s *svg) step(name byte, command *byte, numbers ...int) {
	implied := *command == name || *command == 'm' && name == 'l'
	if !implied || name == 'm' {
		s.out = append(s.out, name)
	}
	*command = name
	for i, n := range numbers {
		if n >= 0 && (i > 0 || implied && name != 'm') {
			s.out = append(s.out, ' ')
		}
		s.tenths(n)
	}
}

// circle draws a whole circle in two arcs from its right end.
func (s *svg) circle(r int) {
	for _, across := range [...]int{-2 * r, 2 * r} {
		s.put("a")
		s.tenths(r)
		s.put(" ")
		s.tenths(r)
		s.put(" 0 1 0 ")
		s.tenths(across)
		s.put(" 0")
	}
}

func tenths(pixels float64) int { return int(math.Round(pixels * perPixel)) }

func (s *svg) number(pixels float64) { s.tenths(tenths(pixels)) }

// tenths writes a number of tenths in its shortest form: 12, -3.4, .5.
func (s *svg) tenths(n int) {
	if n < 0 {
		s.out, n = append(s.out, '-'), -n
	}
	whole, part := n/perPixel, n%perPixel
	if whole != 0 || part == 0 {
		s.out = strconv.AppendInt(s.out, int64(whole), 10)
	}
	if part != 0 {
		s.out = append(s.out, '.', byte('0'+part))
	}
}

// escape writes a text for XML. What XML cannot hold becomes the replacement character.
func (s *svg) escape(text string) {
	s.put(html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)))
}
