package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	pointsPerInch = 72 // one point is one CSS pixel here
	density       = 2  // pixels per CSS pixel
)

// raster is a surface that paints pixels.
type raster struct {
	canvas *vgimg.Canvas
	theme  *palette
	face   font.Face
}

func newPNG(theme Theme, width, height float64) (*raster, error) {
	if theme < Light || theme > Dark {
		return nil, fmt.Errorf("theme %d: there are Light and Dark", theme)
	}
	letters, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("the font: %w", err)
	}
	size := font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize}
	colours := &palettes[theme]
	return &raster{
		canvas: vgimg.NewWith(vgimg.UseWH(vg.Length(width), vg.Length(height)), vgimg.UseDPI(pointsPerInch*density),
			vgimg.UseBackgroundColor(colours[0])),
		theme: colours,
		face:  font.Face{Font: size, Face: letters},
	}, nil
}

func (r *raster) colour(p paint) color.Color {
	c := r.theme[p.role]
	return color.NRGBA{c.R, c.G, c.B, uint8(255*p.opacity + 0.5)}
}

func (r *raster) stroke(p paint, width float64, dashed bool, path vg.Path) {
	r.canvas.SetColor(r.colour(p))
	r.canvas.SetLineWidth(vg.Length(width))
	r.canvas.SetLineDash(nil, 0)
	if dashed {
		r.canvas.SetLineDash([]vg.Length{5, 3}, 0)
	}
	r.canvas.Stroke(path)
}

func (r *raster) fill(p paint, _ bool, path vg.Path) {
	r.canvas.SetColor(r.colour(p))
	r.canvas.Fill(path)
}

func (r *raster) text(at vg.Point, a anchor, s string) {
	switch a {
	case middle:
		at.X -= r.face.Width(s) / 2
	case end:
		at.X -= r.face.Width(s)
	}
	r.canvas.SetColor(r.colour(solid(Ink)))
	r.canvas.FillString(r.face, at, s)
}

func (r *raster) bytes() ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, r.canvas.Image()); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return out.Bytes(), nil
}
