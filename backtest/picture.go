package backtest

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	pictureWidth  = 960 * vg.Length(0.75) // CSS pixels to points
	equityHeight  = 250 * vg.Length(0.75)
	fallHeight    = 130 * vg.Length(0.75)
	picturePoints = 900 // columns; each shows its lowest and its highest point
)

// The colours of the picture stand for what the page's style says: picture replaces them.
var (
	inkColour    = color.RGBA{1, 2, 3, 255}
	equityColour = color.RGBA{4, 5, 6, 255}
	holdColour   = color.RGBA{7, 8, 9, 255}
	fallColour   = color.RGBA{10, 11, 12, 255}
	gridColour   = color.RGBA{13, 14, 15, 255}
)

// picture draws equity, what holding would have been worth, and the drawdown as an SVG element. Its colours follow the page.
func picture(equity, hold plotter.XYs, currency string) (string, error) {
	upper, err := equityPlot(equity, hold, currency)
	if err != nil {
		return "", err
	}
	lower, err := fallPlot(equity)
	if err != nil {
		return "", err
	}
	lower.X.Min, lower.X.Max = upper.X.Min, upper.X.Max
	canvas := vgsvg.New(pictureWidth, equityHeight+fallHeight)
	whole := draw.New(canvas)
	plots := [][]*plot.Plot{{upper}, {lower}}
	tiles := draw.Tiles{Rows: 2, Cols: 1}
	aligned := plot.Align(plots, tiles, whole)
	upper.Draw(cut(aligned[0][0], whole, fallHeight, equityHeight+fallHeight))
	lower.Draw(cut(aligned[1][0], whole, 0, fallHeight))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return "", fmt.Errorf("picture: %w", err)
	}
	return styled(svg.String()), nil
}

// cut keeps the aligned sides of a tile and gives it another height.
func cut(tile, whole draw.Canvas, bottom, top vg.Length) draw.Canvas {
	tile.Rectangle.Min.Y, tile.Rectangle.Max.Y = whole.Min.Y+bottom+3, whole.Min.Y+top-3
	return tile
}

// styled drops the XML prologue, lets the page scale the picture and replaces the stand-in colours by the page's.
func styled(svg string) string {
	if at := strings.Index(svg, "<svg"); at > 0 {
		svg = svg[at:]
	}
	if end := strings.IndexByte(svg, '>'); end > 0 {
		box := fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="equity and drawdown over time" xmlns="http://www.w3.org/2000/svg"`,
			float64(pictureWidth), float64(equityHeight+fallHeight))
		svg = box + svg[end:]
	}
	return strings.NewReplacer("#010203", "var(--ink)", "#040506", "var(--main)", "#070809", "var(--quiet)", "#0A0B0C", "var(--down)",
		"#0D0E0F", "var(--line)", "Liberation Sans", "inherit").Replace(svg)
}

func equityPlot(equity, hold plotter.XYs, currency string) (*plot.Plot, error) {
	p := newPlot(currency)
	for _, l := range []struct {
		points plotter.XYs
		colour color.Color
		width  vg.Length
		name   string
	}{{hold, holdColour, 0.8, "buy and hold"}, {equity, equityColour, 1.3, "equity"}} {
		if len(l.points) == 0 {
			continue
		}
		line, err := plotter.NewLine(thin(l.points))
		if err != nil {
			return nil, fmt.Errorf("picture: %w", err)
		}
		line.Color, line.Width = l.colour, l.width
		p.Add(line)
		p.Legend.Add(l.name, line)
	}
	p.X.Tick.Marker = bare{calendar{}}
	return p, nil
}

func fallPlot(equity plotter.XYs) (*plot.Plot, error) {
	p := newPlot("% below the peak")
	falls := thin(drawdowns(equity))
	if len(falls) > 0 {
		falls = append(falls, plotter.XY{X: falls[len(falls)-1].X}, plotter.XY{X: falls[0].X})
		area, err := plotter.NewPolygon(falls)
		if err != nil {
			return nil, fmt.Errorf("picture: %w", err)
		}
		area.Color = fallColour
		area.LineStyle.Width = 0
		p.Add(area)
	}
	p.Y.Max = 0
	p.X.Tick.Marker = calendar{}
	return p, nil
}

// newPlot is an empty plot in the page's letters and colours.
func newPlot(unit string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Y.Label.Text = unit
	p.Y.Tick.Marker = rounded{}
	letters := font.Font{Typeface: "Liberation", Variant: "Sans", Size: 8}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color, axis.Width = gridColour, gridColour, 0.6
		axis.Tick.LineStyle.Color, axis.Tick.LineStyle.Width, axis.Tick.Length = gridColour, 0.6, 3
		axis.Tick.Label.Color, axis.Tick.Label.Font = inkColour, letters
		axis.Label.TextStyle.Color, axis.Label.TextStyle.Font = inkColour, letters
	}
	p.Legend.TextStyle.Color, p.Legend.TextStyle.Font = inkColour, letters
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs = true, true, 6
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridColour, gridColour
	grid.Vertical.Width, grid.Horizontal.Width = 0.3, 0.3
	p.Add(grid)
	return p
}

// drawdowns turns equity into per cent below the highest value before.
func drawdowns(equity plotter.XYs) plotter.XYs {
	falls := make(plotter.XYs, 0, len(equity))
	peak := 0.0
	for _, e := range equity {
		peak = max(peak, e.Y)
		depth := 0.0
		if peak > 0 {
			depth = 100 * (e.Y/peak - 1)
		}
		falls = append(falls, plotter.XY{X: e.X, Y: depth})
	}
	return falls
}

// thin keeps the lowest and the highest of every few points, in their order.
func thin(points plotter.XYs) plotter.XYs {
	each := len(points)/picturePoints + 1
	if each < 3 {
		return points
	}
	kept := make(plotter.XYs, 0, 2*picturePoints+2)
	for len(points) > 0 {
		group := points[:min(each, len(points))]
		points = points[len(group):]
		low, high := 0, 0
		for i, p := range group {
			if p.Y < group[low].Y {
				low = i
			}
			if p.Y > group[high].Y {
				high = i
			}
		}
		kept = append(kept, group[min(low, high)])
		if low != high {
			kept = append(kept, group[max(low, high)])
		}
	}
	return kept
}

// rounded labels the default ticks in thousands, millions and so on.
type rounded struct{}

// Ticks is plot.Ticker.
func (rounded) Ticks(low, high float64) []plot.Tick {
	if high-low < 1e-12 {
		return []plot.Tick{{Value: low, Label: short(low)}}
	}
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = short(ticks[i].Value)
		}
	}
	return ticks
}

// short writes a number with at most four significant digits: 12.5 k, 3 M.
func short(x float64) string {
	for _, s := range []struct {
		above float64
		unit  string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}} {
		if math.Abs(x) >= s.above {
			unit := s.above
			if s.unit == " k" {
				unit = 1e3
			}
			return strconv.FormatFloat(x/unit, 'g', 4, 64) + s.unit
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// calendar puts ticks at the starts of days, months or years; X is in Unix seconds.
type calendar struct{}

// Ticks is plot.Ticker.
func (calendar) Ticks(low, high float64) []plot.Tick {
	days := (high - low) / 86400
	switch {
	case days < 1:
		return plot.TimeTicks{Format: "15:04"}.Ticks(low, high)
	case days < 60:
		return everyDays(low, high, int(days/8)+1)
	}
	for _, months := range []int{1, 2, 3, 6, 12, 24, 60, 120} {
		if days/30.4 <= float64(9*months) {
			return everyMonths(low, high, months)
		}
	}
	return everyMonths(low, high, 240)
}

func everyDays(low, high float64, step int) (ticks []plot.Tick) {
	at := time.Unix(int64(low), 0).UTC().Truncate(24 * time.Hour)
	for ; float64(at.Unix()) <= high; at = at.AddDate(0, 0, step) {
		if float64(at.Unix()) >= low {
			ticks = append(ticks, plot.Tick{Value: float64(at.Unix()), Label: at.Format("2 Jan")})
		}
	}
	return ticks
}

func everyMonths(low, high float64, step int) (ticks []plot.Tick) {
	format := "Jan 2006"
	if step >= 12 {
		format = "2006"
	}
	at := time.Date(time.Unix(int64(low), 0).UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	for ; float64(at.Unix()) <= high; at = at.AddDate(0, step, 0) {
		if float64(at.Unix()) >= low {
			ticks = append(ticks, plot.Tick{Value: float64(at.Unix()), Label: at.Format(format)})
		}
	}
	return ticks
}

// bare keeps the ticks of another and drops their labels.
type bare struct{ of plot.Ticker }

// Ticks is plot.Ticker.
func (b bare) Ticks(low, high float64) []plot.Tick {
	ticks := b.of.Ticks(low, high)
	for i := range ticks {
		ticks[i].Label = " "
	}
	return ticks
}
