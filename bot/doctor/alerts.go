package doctor

import (
	"context"
	"fmt"
	"sync"
)

// alerts sends one message to each receiver of alerts, to all of them at once, if wanted.
func (d *doctor) alerts(ctx context.Context, wanted bool) {
	const check = "alerts"
	places := d.plan.Receivers
	switch {
	case len(places) == 0 && wanted:
		d.warn(check, "there is no receiver in [alerts.to]",
			"add one: a halt of a bot without alerts is noticed days later")
		return
	case !wanted && len(places) > 0:
		d.ok(check, "%d receivers, not tried; --alerts sends each a message", len(places))
		return
	}
	failed := make([]string, len(places))
	var sending sync.WaitGroup
	for i, p := range places {
		sending.Go(func() { failed[i] = p.Try(ctx, d.plan.Name()) })
	}
	sending.Wait()
	for i, p := range places {
		if failed[i] == "" {
			d.ok(check, "%s (%s) took a message; check that it arrived", p.Name, p.Template)
		} else {
			d.fail(check, fmt.Sprintf("%s (%s): %s", p.Name, p.Template, failed[i]),
				"check the address of alerts.to."+p.Name+", which is a secret and not shown")
		}
	}
}
