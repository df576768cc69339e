package main

import (
	"fmt"
	"strings"
	"time"
)

// A meter measures how far the harvest is.
type meter struct {
	began time.Time
	first int // records that were there before
}

// text is the bar, the rate, and the time left.
func (m *meter) text(n, total int, passed time.Duration) string {
	rate := float64(n-m.first) / max(passed.Seconds(), 0.001)
	if total < 0 {
		return fmt.Sprintf("%d records, %.0f a second", n, rate)
	}
	const width = 30
	done := 1.0
	if total > 0 {
		done = min(float64(n)/float64(total), 1)
	}
	full := int(done * width)
	text := fmt.Sprintf("[%s%s] %3.0f%% %d of %d records, %.0f a second",
		strings.Repeat("#", full), strings.Repeat(".", width-full), done*100, n, total, rate)
	if left := total - n; left > 0 && rate > 0 {
		text += fmt.Sprintf(", %v left", time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second))
	}
	return text
}
