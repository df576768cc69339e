package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A meter shows how far the harvest is: as a bar on a terminal, as a line now and
// then elsewhere.
type meter struct {
	out   io.Writer
	bar   bool
	pause time.Duration

	began time.Time
	first int // records that were there before
	shown time.Time
}

func newMeter(out io.Writer) *meter {
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &meter{out: out, bar: true, pause: 100 * time.Millisecond}
		}
	}
	return &meter{out: out, pause: 10 * time.Second}
}

func (m *meter) start(seen int) { m.began, m.shown, m.first = time.Now(), time.Now(), seen }

// at shows n of total records; a total of -1 is not known.
func (m *meter) at(n, total int) {
	if now := time.Now(); now.Sub(m.shown) >= m.pause {
		m.shown = now
		m.show(m.text(n, total, now.Sub(m.began)))
	}
}

func (m *meter) end(n, total int) {
	m.show(m.text(n, total, time.Since(m.began)))
	if m.bar {
		fmt.Fprintln(m.out)
	}
}

// clear takes the bar away for another text.
func (m *meter) clear() {
	if m.bar {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

func (m *meter) show(text string) {
	if m.bar {
		fmt.Fprintf(m.out, "\r%s\x1b[K", text) // over the last one, and clear what is left of it
		return
	}
	fmt.Fprintln(m.out, text)
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
