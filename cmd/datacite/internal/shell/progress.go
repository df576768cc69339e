package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
)

// progress is the line of a terminal that is drawn again and again.
type progress struct {
	began, shown time.Time
	things       string
	first        int  // what was done when it began
	drawn        bool // the line is on the terminal
}

const (
	redrawn = 100 * time.Millisecond
	quick   = 500 * time.Millisecond // what takes less shows no progress
)

// Progress shows on a terminal how far the work is, with its rate and the time that is left:
// "3,000 of 10,000 rows · 5 failed · 118 rows/s · 1m10s left". total is 0 if nobody knows it. more
// may be empty. Nothing is shown elsewhere, and with --quiet.
func (s *Shell) Progress(done, total int, things, more string) {
	if s.Quiet || !s.draws(s.Stderr) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	p := &s.progress
	if things != p.things || done < p.first {
		p.began, p.things, p.first = now, things, done
	}
	if now.Sub(p.shown) < redrawn || now.Sub(p.began) < quick {
		return
	}
	p.shown, p.drawn = now, true
	line := describe(done, total, things, more, done-p.first, now.Sub(p.began), width(s.Stderr)-1)
	fmt.Fprintf(s.Stderr, "\r%s\x1b[K", line) // replaces the last one
}

// describe is the line of the progress, of at most so many columns; since is what was done in the time. Of
// a line that is too long, more goes first, and then the rate.
func describe(done, total int, things, more string, since int, took time.Duration, columns int) string {
	count, rate, left := Number(done)+" "+things, "", ""
	if total > 0 {
		count = Number(done) + " of " + Number(total) + " " + things
	}
	const settles = time.Second // before that, a rate would jump about
	if since > 0 && took >= settles {
		each := float64(since) / took.Seconds()
		rate = fmt.Sprintf("%.3g %s/s", each, things)
		if each >= 1000 {
			rate = Number(int(each)) + " " + things + "/s"
		}
		if rest := total - done; rest > 0 {
			left = time.Duration(float64(rest)/each*float64(time.Second)).Round(time.Second).String() + " left"
		}
	}
	line := ""
	for _, parts := range [][]string{{count, more, rate, left}, {count, rate, left}, {count, left}} {
		line = strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
		if runewidth.StringWidth(line) <= columns {
			break
		}
	}
	return runewidth.Truncate(line, columns, "…")
}

// clearProgress removes the line from the terminal before other text.
func (s *Shell) clearProgress() {
	if s.progress.drawn {
		_, _ = io.WriteString(s.Stderr, "\r\x1b[K")
		s.progress.drawn = false
	}
}

func (s *Shell) endProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearProgress()
}
